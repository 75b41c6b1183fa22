#include "lib/backfill/obstacles.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace interlock::backfill {

bool LockBlocks(const druid::TaskLock& lock) {
  if (lock.revoked) return false;
  if (lock.group_id.empty() && lock.type.empty()) return true;  // only its interval is told
  return lock.priority >= kBatchPriority;
}

std::string DescribeLock(const druid::TaskLock& lock) {
  if (lock.group_id.empty()) return "a task of Druid's has a lock here";
  return absl::StrCat("task group ", lock.group_id, " has a lock ", lock.type, " of priority ",
                      lock.priority, LockBlocks(lock) ? "" : ", which a backfill pre-empts");
}

bool MakesVersions(const druid::TaskStatus& task) {
  if (!task.top_level()) return false;
  const std::string& type = task.type;
  if (type == "noop" || type == "kill" || type == "compact") return false;
  return !absl::StartsWith(type, "index_kafka") && !absl::StartsWith(type, "index_kinesis") &&
         !absl::StartsWith(type, "index_rabbit") && !absl::StartsWith(type, "index_realtime");
}

}  // namespace interlock::backfill
