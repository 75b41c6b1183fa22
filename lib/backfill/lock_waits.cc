#include "lib/backfill/lock_waits.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/supervisor.h"

namespace interlock::backfill {

// A group is named TYPE_SUPERVISOR; versions that tell only where locks are name none.
bool IsStreamLock(const druid::TaskLock& lock) {
  const std::string& group = lock.group_id;
  for (size_t end = group.find('_'); end != std::string::npos; end = group.find('_', end + 1)) {
    if (druid::IsStreamTaskType(group.substr(0, end))) return true;
  }
  return false;
}

absl::StatusOr<Instant> NoteLockWait(store::Transaction& tx, const std::string& backfill_id,
                                     int64_t unit, const std::string& holder) {
  auto rows = tx.Query(
      "SELECT since_ms FROM backfill_lock_wait WHERE backfill_id = :id AND unit = :unit AND"
      " holder = :holder",
      {backfill_id, unit, holder});
  if (!rows.ok()) return rows.status();
  if (!rows->empty()) return rows->front().At(0);
  absl::Status status = EndLockWait(tx, backfill_id, unit);
  if (!status.ok()) return status;
  status = tx.Execute(
                 "INSERT INTO backfill_lock_wait (backfill_id, unit, holder, since_ms)"
                 " VALUES (:id, :unit, :holder, :since)",
                 {backfill_id, unit, holder, tx.now()})
               .status();
  if (!status.ok()) return status;
  return tx.now();
}

absl::Status EndLockWait(store::Transaction& tx, const std::string& backfill_id, int64_t unit) {
  return tx
      .Execute("DELETE FROM backfill_lock_wait WHERE backfill_id = :id AND unit = :unit",
               {backfill_id, unit})
      .status();
}

}  // namespace interlock::backfill
