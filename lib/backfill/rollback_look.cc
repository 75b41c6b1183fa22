#include "lib/backfill/rollback_look.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"

namespace interlock::backfill {
namespace {

bool Has(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

RollbackSight SightOf(const druid::Timeline& timeline, const Rollback& rollback) {
  RollbackSight sight;
  for (const druid::Slice& slice : timeline.Visible(rollback.partition)) {
    if (sight.versions.find(slice.version) == std::string::npos) {
      absl::StrAppend(&sight.versions, sight.versions.empty() ? "" : ",", slice.version);
    }
    for (const druid::Segment* segment : slice.segments) {
      if (!Has(sight.visible, segment->id)) sight.visible.push_back(segment->id);
    }
  }
  std::set<std::string> used;
  for (const druid::Segment& segment : timeline.segments()) {
    used.insert(segment.id);
    const bool goes =
        segment.version == rollback.version && rollback.partition.Contains(segment.interval);
    if (!goes) continue;
    sight.going.push_back(segment.id);
    if (!Has(rollback.new_ids, segment.id)) sight.foreign.push_back(segment.id);
  }
  for (const std::string& id : rollback.old_ids) {
    if (used.count(id) == 0) sight.missing.push_back(id);
  }
  return sight;
}

absl::Status CheckSight(const RollbackSight& sight, const Rollback& rollback) {
  const std::string partition = rollback.partition.ToString();
  if (sight.versions != rollback.version) {
    return NotNewestGeneration(partition, rollback.version, sight.versions);
  }
  if (!sight.foreign.empty() && !rollback.accept_foreign) {
    return ForeignRows(partition, sight.foreign);
  }
  return absl::OkStatus();
}

absl::Status CheckStillThere(druid::Cluster& cluster, const std::string& datasource,
                             const Rollback& rollback, const std::vector<std::string>& ids) {
  if (ids.empty()) return absl::OkStatus();
  const auto unused = cluster.ListUnusedSegments(datasource, rollback.partition);
  if (unused.cause() == druid::Cause::kUnsupported) return absl::OkStatus();
  if (!unused.done()) return RollbackNotCheckable(unused.text());
  for (const std::string& id : ids) {
    const auto& all = unused.value();
    const bool there = std::any_of(all.begin(), all.end(), [&](const druid::UnusedSegment& one) {
      return one.segment.id == id;
    });
    if (!there) return OldGenerationKilled(rollback.partition.ToString(), id);
  }
  return absl::OkStatus();
}

}  // namespace interlock::backfill
