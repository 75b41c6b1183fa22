#include "lib/simulator/chunk_allocator.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/simulator/world.h"

namespace interlock::simulator {
namespace {

// Druid's standard granularities, coarse to fine.
constexpr const char* kStandard[] = {"ALL",         "YEAR",          "QUARTER",        "MONTH",
                                     "WEEK",        "DAY",           "EIGHT_HOUR",     "SIX_HOUR",
                                     "HOUR",        "THIRTY_MINUTE", "FIFTEEN_MINUTE", "TEN_MINUTE",
                                     "FIVE_MINUTE", "MINUTE",        "SECOND"};

absl::Status CannotAdd(Instant time) {
  return absl::FailedPreconditionError(absl::StrCat(
      "org.apache.druid.java.util.common.ISE: Failed to add a row with timestamp[", time.ToString(),
      "]\n\tat org.apache.druid.indexing.common.task.InputSourceProcessor."
      "process(InputSourceProcessor.java:132)\n"));
}

std::vector<Granularity> Candidates(const Granularity& preferred) {
  std::vector<Granularity> candidates = {preferred};
  for (const char* name : kStandard) {
    absl::StatusOr<Granularity> finer = Granularity::FromName(name);
    if (finer.ok() && !(*finer == preferred) && finer->FinerOrEqual(preferred)) {
      candidates.push_back(*finer);
    }
  }
  return candidates;
}

}  // namespace

absl::StatusOr<Chunk> AllocateChunk(const World& world, const Task& task, Instant time) {
  const std::string& datasource = task.datasource;
  const std::vector<Slice>& visible = world.segments.VisibleUsed(datasource);
  for (const Slice& slice : visible) {
    if (!slice.interval.Contains(time)) continue;
    // The chunk as it was written, not only the slice of it that shows.
    const Segment& there = *slice.segments.front();
    if (world.locks.Covering(task.group, datasource, there.interval) == nullptr) {
      return CannotAdd(time);
    }
    return Chunk{there.interval, there.version,
                 there.tombstone ? world.traits.tombstone_core_partitions : there.core_partitions};
  }
  for (const Granularity& granularity : Candidates(*task.ingest->segment_granularity)) {
    const Interval bucket = granularity.Bucket(time);
    const bool taken = std::any_of(visible.begin(), visible.end(), [&](const Slice& slice) {
      return slice.interval.Overlaps(bucket);
    });
    const Lock* lock = world.locks.Covering(task.group, datasource, bucket);
    if (!taken && lock != nullptr) return Chunk{bucket, lock->version, 0};
  }
  return CannotAdd(time);
}

}  // namespace interlock::simulator
