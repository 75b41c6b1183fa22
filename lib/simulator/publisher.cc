#include "lib/simulator/publisher.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/simulator/chunk_allocator.h"
#include "lib/simulator/partitioner.h"
#include "lib/simulator/world.h"
#include "lib/time/interval_set.h"

namespace interlock::simulator {
namespace {

constexpr int64_t kBaseBytes = 1400;  // of a segment file, measured
constexpr int64_t kRowBytes = 57;
constexpr char kTombstoneLoadSpec[] = R"({"path":null,"type":"tombstone"})";

// ALL is cut by the intervals that were given, or not at all.
Interval BucketOf(const IngestSpec& spec, const std::vector<Interval>& given, Instant time) {
  if (!spec.segment_granularity->is_all()) return spec.segment_granularity->Bucket(time);
  for (const Interval& interval : given) {
    if (interval.Contains(time)) return interval;
  }
  return Interval::Eternity();
}

using Buckets = std::map<Interval, std::vector<const InputRow*>>;

Buckets ByBucket(const IngestSpec& spec, const Input& input) {
  const std::vector<Interval> given = Condense(spec.intervals);
  Buckets buckets;
  for (const InputRow& row : input.rows) buckets[BucketOf(spec, given, row.time)].push_back(&row);
  return buckets;
}

class Publication {
 public:
  Publication(World& world, const Task& task) : world_(world), task_(task), spec_(*task.ingest) {}

  absl::Status Make() {
    const Buckets buckets = ByBucket(spec_, *task_.input);
    for (const auto& [bucket, rows] : buckets) {
      const bool append = spec_.mode == IngestSpec::Mode::kAppend;
      absl::Status made = append ? Append(rows) : Replace(bucket, rows);
      if (!made.ok()) return made;
    }
    for (const Segment& segment : segments_) published_.push_back(segment.id);
    if (spec_.mode == IngestSpec::Mode::kReplace) return BuryTheRest(buckets);
    return absl::OkStatus();
  }

  void Store() {
    for (Segment& segment : segments_) world_.segments.Insert(std::move(segment));
    if (!segments_.empty()) world_.SegmentsChanged(spec_.datasource);
  }

  // Without the tombstones, which Druid's report does not count.
  const std::vector<std::string>& published() const { return published_; }

 private:
  absl::StatusOr<std::string> LockVersion(const Interval& bucket) const {
    const Lock* lock = world_.locks.Covering(task_.group, spec_.datasource, bucket);
    if (lock != nullptr) return lock->version;
    return absl::FailedPreconditionError(
        absl::StrCat("Segments are not covered by locks: ", bucket.ToString()));
  }

  Segment Blank(const Interval& interval, const std::string& version, int partition) const {
    Segment segment;
    segment.datasource = spec_.datasource;
    segment.interval = interval;
    segment.version = version;
    segment.partition = partition;
    segment.id = SegmentId(spec_.datasource, interval, version, partition);
    segment.created = segment.status_updated = world_.now();
    return segment;
  }

  absl::Status Add(Segment segment, RowSet rows, int core, std::string shard) {
    const ColumnNames names = NamesOf(spec_, rows);
    segment.core_partitions = core;
    segment.shard_json = std::move(shard);
    segment.dimensions = names.dimensions;
    segment.metrics = names.metrics;
    segment.size = kBaseBytes + kRowBytes * static_cast<int64_t>(rows.rows.size());
    segment.rows = std::make_shared<const RowSet>(std::move(rows));
    absl::Status pushed = world_.deep_storage.Push(segment);
    segments_.push_back(std::move(segment));
    return pushed;
  }

  absl::Status Replace(const Interval& bucket, const std::vector<const InputRow*>& rows) {
    if (spec_.partitions.kind == PartitionsSpec::Kind::kRange && !spec_.parallel()) {
      return absl::FailedPreconditionError(
          absl::StrCat("Failed with exception [partitionsSpec[", spec_.partitions.type_in_errors,
                       "] is not supported]. See indexer logs for details."));
    }
    absl::StatusOr<std::string> version = LockVersion(bucket);
    if (!version.ok()) return version.status();
    int partition = 0;
    for (Partition& part : MakePartitions(spec_, rows)) {
      absl::Status added = Add(Blank(bucket, *version, partition++), std::move(part.rows),
                               part.core_partitions, std::move(part.shard_json));
      if (!added.ok()) return added;
    }
    return absl::OkStatus();
  }

  absl::Status Append(const std::vector<const InputRow*>& rows) {
    std::map<Chunk, std::vector<const InputRow*>> chunks;
    for (const InputRow* row : rows) {
      absl::StatusOr<Chunk> chunk = AllocateChunk(world_, task_, row->time);
      if (!chunk.ok()) return chunk.status();
      chunks[*chunk].push_back(row);
    }
    for (const auto& [chunk, of] : chunks) {
      int partition = NextPartition(chunk.interval, chunk.version);
      for (RowSet& set : MakeAppends(spec_, of)) {
        absl::Status added =
            Add(Blank(chunk.interval, chunk.version, partition), std::move(set),
                chunk.core_partitions, NumberedShard(partition, chunk.core_partitions));
        if (!added.ok()) return added;
        ++partition;
      }
    }
    return absl::OkStatus();
  }

  // Behind every partition the version ever had, unused ones too.
  int NextPartition(const Interval& interval, const std::string& version) {
    int next = 0;
    for (const Segment* segment : world_.segments.All(spec_.datasource)) {
      if (segment->interval == interval && segment->version == version) {
        next = std::max(next, segment->partition + 1);
      }
    }
    for (const Segment& segment : segments_) {
      if (segment.interval == interval && segment.version == version) {
        next = std::max(next, segment.partition + 1);
      }
    }
    return next;
  }

  // dropExisting: a tombstone for each bucket of the intervals that shows something now
  // and got no rows.
  absl::Status BuryTheRest(const Buckets& buckets) {
    std::set<Interval> graves;
    for (const Slice& slice : world_.segments.VisibleUsed(spec_.datasource)) {
      for (const Interval& allowed : task_.lock_intervals) {
        const std::optional<Interval> part = slice.interval.Intersect(allowed);
        if (part) CollectGraves(*part, buckets, graves);
      }
    }
    for (const Interval& grave : graves) {
      absl::StatusOr<std::string> version = LockVersion(grave);
      if (!version.ok()) return version.status();
      Segment tombstone = Blank(grave, *version, 0);
      tombstone.tombstone = true;
      tombstone.core_partitions = world_.traits.tombstone_core_partitions;
      tombstone.shard_json = TombstoneShard(tombstone.core_partitions);
      tombstone.load_spec_json = kTombstoneLoadSpec;
      tombstone.size = 1;
      tombstone.rows = std::make_shared<const RowSet>();
      segments_.push_back(std::move(tombstone));
    }
    return absl::OkStatus();
  }

  void CollectGraves(const Interval& part, const Buckets& buckets, std::set<Interval>& graves) {
    const std::vector<Interval> given = Condense(spec_.intervals);
    for (Instant at = part.start(); at < part.end();) {
      const Interval bucket = BucketOf(spec_, given, at);
      if (buckets.count(bucket) == 0) graves.insert(bucket);
      at = bucket.end();
    }
  }

  World& world_;
  const Task& task_;
  const IngestSpec& spec_;
  std::vector<Segment> segments_;
  std::vector<std::string> published_;
};

}  // namespace

absl::Status Publish(World& world, Task& task) {
  Publication publication(world, task);
  absl::Status made = publication.Make();
  if (!made.ok()) return made;
  task.published = publication.published();
  publication.Store();
  return made;
}

std::vector<Interval> WrittenIntervals(const IngestSpec& spec, const Input& input) {
  std::vector<Interval> written;
  for (const auto& [bucket, rows] : ByBucket(spec, input)) written.push_back(bucket);
  return Condense(std::move(written));
}

}  // namespace interlock::simulator
