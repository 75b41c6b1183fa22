#include "lib/store/postgres_session.h"

#include <utility>

#include "lib/time/fnv.h"

namespace interlock::store {

int LockNumber(const std::string& name) {
  const int number = static_cast<int>(Fnv1a32(name));
  return number == kEverythingLock || number == kMigrationLock ? 2 : number;
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresSession::Connect(
    PostgresUse use) const {
  absl::StatusOr<PostgresAddress> address = AddressOf(options_);
  if (!address.ok()) return address.status();
  return OpenPostgresConnection(*address, use);
}

absl::StatusOr<PostgresSession::Look> PostgresSession::LookAt(Connection& connection) const {
  Look look;
  look.time.before = clock_.Monotonic();
  absl::StatusOr<Rows> rows = connection.Query(
      "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT),"
      " correction_ms, corrections, COALESCE((SELECT MAX(decided_ms) FROM store_replica), 0),"
      " CASE WHEN current_setting('synchronous_standby_names') <> '' THEN 1 ELSE 0 END"
      " FROM store_clock",
      {});
  look.time.after = clock_.Monotonic();
  if (!rows.ok()) return rows.status();
  const Row& row = rows->front();
  look.time.database = options_.database_time ? options_.database_time() : row.At(0);
  look.time.correction_ms = row.Int(1);
  look.time.corrections = row.Int(2);
  look.time.decided = row.At(3);
  look.synchronous = row.Flag(4);
  return look;
}

absl::StatusOr<Instant> PostgresSession::ReadTime(Connection& connection) {
  absl::StatusOr<Look> look = LookAt(connection);
  if (!look.ok()) return look.status();
  return time_.Judge(look->time).now;
}

absl::Status PostgresSession::CorrectTime(Connection& connection) {
  absl::Status status = connection.Run(
      "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT one FROM store_clock FOR UPDATE");
  if (!status.ok()) return status;
  absl::StatusOr<Look> look = LookAt(connection);
  if (!look.ok()) return look.status();
  const absl::Duration jump = time_.Judge(look->time).jump;
  if (jump == absl::ZeroDuration()) return connection.Run("ROLLBACK");
  status = connection
               .Execute(
                   "UPDATE store_clock SET correction_ms = correction_ms - :jump,"
                   " corrections = corrections + 1",
                   {absl::ToInt64Milliseconds(jump)})
               .status();
  if (status.ok()) status = connection.Run("COMMIT");
  if (status.ok()) time_.Corrected(jump);
  return status;
}

}  // namespace interlock::store
