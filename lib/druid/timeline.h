// What queries see: Druid's own rule, computed from the segments' metadata
// (apache/druid, processing/…/timeline/VersionedIntervalTimeline.java and
// partition/PartitionHolder.java).
//
//   - Segments of one interval and version stand together; they count only when the core
//     partitions 0 … n-1 are all there. What was appended beyond the core comes with them.
//   - At each moment the highest version that counts is seen, and no other: versions are
//     never summed. One that is hidden in part is seen in the rest (it is cut).
//   - A tombstone is a version like any other, without rows.
//
// Costs O(n log n); versions are compared as text, as Druid does.
//
// Threads: const after Of.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/druid/segment.h"
#include "lib/time/interval.h"

namespace interlock::druid {

// A stretch of time in which queries see one version of one chunk.
struct Slice {
  Interval interval;  // cut to what is seen, and to what was asked for
  Interval chunk;     // the segments' own
  std::string version;
  std::vector<const Segment*> segments;  // the Timeline's, by partition number
  // False only where has_unknown_shards.
  bool complete = true;
  // What is seen here can't be told: a segment has a shardSpec that we don't know, or two
  // chunks of this very version overlap (Druid itself fails on those).
  bool has_unknown_shards = false;

  bool tombstone() const;  // nothing but tombstones: seen, and without rows
};

// The segments of one interval and version.
struct Generation {
  Interval interval;
  std::string version;
  std::vector<const Segment*> segments;  // the Timeline's
};

class Timeline {
 public:
  // Segments of one datasource; an id that comes twice counts once.
  static Timeline Of(std::vector<Segment> segments);

  // By time, without gaps filled: where nothing is seen there is no slice.
  std::vector<Slice> Visible(const Interval& interval) const&;
  std::vector<Slice> Visible(const Interval& interval) && = delete;

  // Segments that no query reads, wherever it looks: all of their interval is covered by
  // higher versions that count (sys.segments.is_overshadowed).
  std::vector<Segment> Hidden() const;

  // Versions that are there but do not count: core partitions are missing. Those that
  // would be hidden anyway included.
  std::vector<Generation> Incomplete() const&;
  std::vector<Generation> Incomplete() && = delete;

  const std::vector<Segment>& segments() const { return segments_; }

 private:
  struct Group {
    Interval interval;
    size_t begin = 0;  // in segments_
    size_t end = 0;
    bool complete = false;
    bool unknown = false;
  };
  // What is seen in `interval`: group `group`.
  struct Piece {
    Interval interval;
    size_t group = 0;
    bool contested = false;  // another group of the same version overlaps
  };

  explicit Timeline(std::vector<Segment> segments);
  void MakeGroups();
  bool CoreIsThere(const Group& group) const;
  std::vector<Piece> Sweep(bool with_unknown) const;
  bool IsHidden(const Group& group) const;
  const std::string& VersionOf(size_t group) const;
  std::vector<const Segment*> SegmentsOf(const Group& group) const;

  std::vector<Segment> segments_;  // by interval, version, partition
  std::vector<Group> groups_;
  std::vector<Piece> seen_;     // by time
  std::vector<Piece> certain_;  // without the groups that can't be told
};

}  // namespace interlock::druid
