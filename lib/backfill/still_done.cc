#include "lib/backfill/still_done.h"

#include <algorithm>
#include <set>

namespace interlock::backfill {
namespace {

bool AppendedTo(const druid::Slice& slice) {
  const auto appended = [](const druid::Segment* segment) { return segment->appended(); };
  // Without a core (a stream's own segments) all of it counts as appended, and none was added.
  return std::any_of(slice.segments.begin(), slice.segments.end(), appended) &&
         !std::all_of(slice.segments.begin(), slice.segments.end(), appended);
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
  std::set<std::string> seen;
  bool appended = false;
  for (const druid::Slice& slice : timeline.Visible(partition)) {
    version = slice.version;
    appended = appended || AppendedTo(slice);
    for (const druid::Segment* segment : slice.segments) seen.insert(segment->id);
  }
  if (version != before.done.version) return false;
  if (before.segment_ids.empty()) return !appended;
  return seen == std::set<std::string>(before.segment_ids.begin(), before.segment_ids.end());
}

}  // namespace interlock::backfill
