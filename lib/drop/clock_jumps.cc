#include "lib/drop/clock_jumps.h"

namespace interlock::drop {

absl::Status NoteClockJump(store::Transaction& tx, absl::Duration by) {
  return tx
      .Execute("INSERT INTO drop_clock_jump (at_ms, by_ms) VALUES (:at, :by)",
               {tx.now(), absl::ToInt64Milliseconds(by)})
      .status();
}

absl::StatusOr<std::optional<ClockJump>> LastClockJump(store::Transaction& tx,
                                                       absl::Duration skew) {
  const int64_t least = absl::ToInt64Milliseconds(skew);
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT at_ms, by_ms FROM drop_clock_jump WHERE by_ms > :least OR by_ms < :most"
      " ORDER BY at_ms DESC LIMIT 1",
      {least, -least});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::optional<ClockJump>();
  return std::optional<ClockJump>(
      ClockJump{rows->front().At(0), absl::Milliseconds(rows->front().Int(1))});
}

}  // namespace interlock::drop
