// What lies beside a unit: seen before and after, and each change explained or not (P4).
//
// Neighbours are one partition on either side, and the rest of every segment that sticks
// out of the unit: a unit that replaces one day of a monthly segment must leave the other
// days as they were.
//
// Pure. Threads: functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/druid/rules.h"
#include "lib/druid/segment.h"
#include "lib/druid/timeline.h"
#include "lib/time/granularity.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/verify/verdict.h"

namespace interlock::verify {

// The neighbours of `unit` (condensed), themselves condensed. `used` are the segments that
// overlap the unit.
std::vector<Interval> NeighboursOf(const std::vector<Interval>& unit,
                                   const Granularity& granularity,
                                   const std::vector<druid::Segment>& used);

// The segments that queries read in `intervals`, by id, and SHA-256 over the ids in hex:
// two equal digests are the same segments, byte for byte what they were.
struct SeenSegment {
  std::string id;
  Interval interval;  // its own, not cut
};
struct VisibleSet {
  std::vector<SeenSegment> segments;
  std::string digest;
};
VisibleSet VisibleSetOf(const druid::Timeline& timeline, const std::vector<Interval>& intervals);

// Something that our own ledger knows to have written, or taken away, in some time.
struct KnownChange {
  Interval interval;
  Instant from;
  std::optional<Instant> until;  // nothing while it is not over
  std::string what;              // "attempt 2 of backfill b-17"
};

struct NeighbourQuestion {
  std::vector<Interval> intervals;        // the neighbours
  std::vector<SeenSegment> before;        // what was read there before the change
  std::vector<std::string> own_versions;  // what our task wrote; one per partition
  std::vector<KnownChange> known;
  // The datasource's retention rules, and Druid's time; null where they were not read. Not
  // owned.
  const druid::Rules* rules = nullptr;
  Instant now;
};

// What became of one chunk next door.
struct NeighbourChange {
  enum class Cause {
    kOursIntended,   // another attempt, or a reservation, of our own ledger's
    kOursByMistake,  // our own task, though it should not have
    kStreamAppend,
    kCompaction,
    kRuleOrDuty,  // a retention rule drops it
    kUnexplained,
  };
  Interval interval;  // the chunk's own
  Cause cause = Cause::kUnexplained;
  std::string version_before, version_after;  // "" where there was, or is, none
  std::string attributed_to;                  // "attempt 2 of backfill b-17"; "" if to nobody
};
// "OURS_INTENDED" …: stable.
absl::string_view NameOf(NeighbourChange::Cause cause);
NeighbourChange::Cause CauseOf(absl::string_view name);

struct NeighbourChanges {
  // NEIGHBOUR_CHANGED (ours by mistake) and FOREIGN_WRITE (nothing explains it).
  std::vector<Finding> findings;
  std::vector<std::string> explained;  // a sentence for each change with a cause
  // The same by chunk and version, explained or not.
  std::vector<NeighbourChange> changes;
};

NeighbourChanges CompareNeighbours(const druid::Timeline& after, const NeighbourQuestion& question);

}  // namespace interlock::verify
