#include "lib/backfill/history.h"

#include <string>

namespace interlock::backfill {
namespace {

// Of the largest backfills each has 10,000 partitions with their proofs.
constexpr int64_t kAtATime = 4;

}  // namespace

absl::StatusOr<int64_t> ForgetOldest(store::Transaction& tx, Instant before) {
  auto rows =
      tx.Query("SELECT id FROM backfill WHERE ended_ms < :before ORDER BY number LIMIT :most",
               {before, kAtATime});
  if (!rows.ok()) return rows.status();
  for (const store::Row& row : *rows) {
    const std::string id = row.Text(0);
    for (const char* remove : {"DELETE FROM backfill_attempt WHERE backfill_id = :id",
                               "DELETE FROM backfill_partition WHERE backfill_id = :id",
                               "DELETE FROM backfill_unit WHERE backfill_id = :id",
                               "DELETE FROM backfill_rollback WHERE backfill_id = :id",
                               "DELETE FROM backfill_retirement WHERE backfill_id = :id",
                               "DELETE FROM backfill WHERE id = :id"}) {
      absl::Status status = tx.Execute(remove, {id}).status();
      if (!status.ok()) return status;
    }
  }
  return static_cast<int64_t>(rows->size());
}

}  // namespace interlock::backfill
