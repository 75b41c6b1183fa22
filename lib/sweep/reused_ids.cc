#include "lib/sweep/reused_ids.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/druid/appends.h"

namespace interlock::sweep {

std::optional<Observed> ReusedIds(const druid::TaskLock& lock,
                                  const std::vector<druid::UnusedSegment>& unused) {
  if (!druid::Appends(lock) || lock.revoked) return std::nullopt;
  Observed observed;
  for (const auto& row : unused) {
    if (row.segment.version == druid::kAppendVersion &&
        lock.interval.Overlaps(row.segment.interval)) {
      observed.segments.push_back(row.segment.id);
    }
  }
  if (observed.segments.empty()) return std::nullopt;
  observed.kind = kIdReused;
  observed.interval = lock.interval;
  observed.subject = lock.group_id;
  observed.reason = "APPENDED_OVER_UNUSED";
  observed.message = absl::StrCat(
      "task ", lock.group_id, " appends where ", observed.segments.size(),
      " unused segments have the version of appends, and nothing is used: Druid gives their ids "
      "again, so that its rows are not seen, and its files take the place of theirs");
  observed.remedy =
      "write there with a task that replaces (interlockctl submit); the unused segments are no "
      "longer what was dropped: kill them, don't restore them";
  return observed;
}

std::optional<Observed> StillReused(const Observed& was,
                                    const std::vector<druid::UnusedSegment>& unused) {
  const bool there = std::any_of(unused.begin(), unused.end(), [&](const auto& row) {
    return std::find(was.segments.begin(), was.segments.end(), row.segment.id) !=
           was.segments.end();
  });
  return there ? std::optional(was) : std::nullopt;
}

}  // namespace interlock::sweep
