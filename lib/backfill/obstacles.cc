#include "lib/backfill/obstacles.h"

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

}  // namespace interlock::backfill
