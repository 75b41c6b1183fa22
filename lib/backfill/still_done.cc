#include "lib/backfill/still_done.h"

#include <algorithm>

namespace interlock::backfill {
namespace {

bool AppendedTo(const druid::Slice& slice) {
  const auto appended = [](const druid::Segment* segment) { return segment->appended(); };
  // Without a core (a stream's own segments) all of it counts as appended, and none was added.
  return std::any_of(slice.segments.begin(), slice.segments.end(), appended) &&
         !std::all_of(slice.segments.begin(), slice.segments.end(), appended);
}

bool AllOf(const druid::Slice& slice, const std::vector<std::string>& ids) {
  return std::all_of(slice.segments.begin(), slice.segments.end(), [&](const auto* segment) {
    return std::find(ids.begin(), ids.end(), segment->id) != ids.end();
  });
}

}  // namespace

absl::StatusOr<std::optional<ProvenBefore>> FindProven(store::Transaction& tx,
                                                       const std::string& datasource,
                                                       const Interval& partition,
                                                       const std::string& digest) {
  auto done = FindDone(tx, datasource, partition);
  if (!done.ok()) return done.status();
  if (!*done || (*done)->digest != digest) return std::nullopt;
  ProvenBefore proven{**done, {}, std::nullopt};
  PartitionFilter filter;
  filter.overlapping = partition;
  auto found = ReadPartitions(tx, proven.done.backfill_id, filter, partition.start(), 1);
  if (!found.ok()) return found.status();
  if (found->empty() || found->front().partition != partition) return proven;
  const StoredPartition& there = found->front();
  if (there.proof) {
    proven.segment_ids = there.proof->segment_ids;
    proven.rows = there.proof->rows;
  }
  if (there.state == State::kEmpty) proven.rows = 0;
  return proven;
}

bool StillShows(const ProvenBefore& before, const druid::Timeline& timeline,
                const Interval& partition) {
  std::string version;
  for (const druid::Slice& slice : timeline.Visible(partition)) {
    version = slice.version;
    const bool more =
        before.segment_ids.empty() ? AppendedTo(slice) : !AllOf(slice, before.segment_ids);
    if (more) return false;
  }
  return version == before.done.version;
}

}  // namespace interlock::backfill
