#include "lib/store/postgres_start.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "lib/store/facts.h"
#include "lib/store/migrations.h"
#include "lib/store/postgres_session.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

constexpr int64_t kOldestVersion = 150000;
// Rows of servers that have not written for so long are removed.
constexpr char kForgetReplicas[] =
    "DELETE FROM store_replica WHERE decided_ms <"
    " (SELECT MAX(decided_ms) FROM store_replica) - 604800000";
// After rows with numbers of their own, the counters go on above the highest.
constexpr char kRaiseCounters[] =
    "DO $$ DECLARE c record; BEGIN FOR c IN SELECT table_name, column_name"
    " FROM information_schema.columns WHERE is_identity = 'YES'"
    " AND table_schema = current_schema() LOOP EXECUTE format("
    "'SELECT setval(pg_get_serial_sequence(%1$L, %2$L), COALESCE(MAX(%2$I), 0) + 1, false)"
    " FROM %1$I', c.table_name, c.column_name); END LOOP; END $$";

std::string LockAll() {
  return absl::StrCat("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(",
                      kLockClass, ", ", kMigrationLock, "); SELECT pg_advisory_xact_lock(",
                      kLockClass, ", ", kEverythingLock, ")");
}

absl::Status CheckFit(Connection& connection) {
  absl::StatusOr<Rows> rows = connection.Query(
      "SELECT current_setting('server_version_num'), current_setting('server_version'),"
      " current_setting('server_encoding')",
      {});
  if (!rows.ok()) return rows.status();
  const Row& row = rows->front();
  if (row.Int(0) < kOldestVersion) {
    return UnfitDatabase(
        absl::StrCat("PostgreSQL ", row.Text(1), " is too old for a store: 15 or later will do"));
  }
  if (row.Text(2) != "UTF8") {
    return UnfitDatabase(absl::StrCat("the database's encoding is ", row.Text(2),
                                      ": create one with ENCODING 'UTF8' TEMPLATE template0"));
  }
  return absl::OkStatus();
}

// Which database cluster, which database in it, and which of its histories: the last one
// changes with each promotion of a standby and each recovery to a point in time. "" where
// the server does not tell (some that are managed by others).
std::string OriginOf(Connection& connection) {
  absl::StatusOr<Rows> rows = connection.Query(
      "SELECT (SELECT system_identifier FROM pg_control_system()),"
      " (SELECT oid FROM pg_database WHERE datname = current_database()),"
      " substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)",
      {});
  if (!rows.ok()) return "";
  const Row& row = rows->front();
  return absl::StrCat(row.Text(0), "/", row.Text(1), "/", row.Text(2));
}

absl::string_view PlaceIn(absl::string_view origin) { return origin.substr(0, origin.rfind('/')); }

absl::Status RunAll(Connection& connection, const std::vector<std::string>& statements) {
  for (const std::string& statement : statements) {
    const std::optional<std::string> text = RenderSchema(statement, Engine::kPostgres);
    absl::Status status = text.has_value() ? connection.Run(*text) : absl::OkStatus();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Above what may have been handed out and is not here.
absl::Status Lift(Connection& connection, const std::vector<Schema>& schemas, Instant wall,
                  bool restored) {
  absl::Status status = WriteIsBackup(connection, false);
  if (status.ok()) status = WriteTokenFloor(connection, TokenFloorAt(wall));
  for (const Schema& schema : schemas) {
    if (!status.ok()) return status;
    status = RunAll(connection, restored ? schema.on_restore : schema.on_failover);
  }
  return status.ok() ? connection.Run(kRaiseCounters) : status;
}

absl::StatusOr<PostgresStart> Compare(Connection& connection, const std::vector<Schema>& schemas,
                                      Instant wall, const std::string& origin) {
  absl::StatusOr<Facts> facts = ReadFacts(connection);
  if (!facts.ok()) return facts.status();
  PostgresStart start{facts->incarnation, origin};
  const bool known = !facts->origin.empty() && !origin.empty();
  const bool restored = facts->is_backup || (known && PlaceIn(facts->origin) != PlaceIn(origin));
  const bool lift = restored || (known && facts->origin != origin);
  absl::Status status;
  if (lift) status = Lift(connection, schemas, wall, restored);
  if (status.ok() && (lift || start.incarnation.empty())) {
    start.incarnation = NewIncarnation();
    status = WriteIncarnation(connection, start.incarnation);
  }
  if (status.ok() && !origin.empty()) status = WriteOrigin(connection, origin);
  if (status.ok()) status = connection.Run(kForgetReplicas);
  if (!status.ok()) return status;
  return start;
}

// `body` under the lock that keeps others out, committed.
template <class Body>
absl::StatusOr<PostgresStart> LockedAlone(Connection& connection, Body body) {
  absl::Status status = connection.Run(LockAll());
  if (!status.ok()) return status;
  absl::StatusOr<PostgresStart> result = body();
  if (result.ok()) status = connection.Run("COMMIT");
  if (result.ok() && status.ok()) return result;
  connection.Run("ROLLBACK").IgnoreError();
  return result.ok() ? status : result.status();
}

}  // namespace

Schema PostgresSchema() {
  return {"store_postgresql",
          {{
              "CREATE TABLE store_clock (one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),"
              " correction_ms BIGINT NOT NULL, corrections BIGINT NOT NULL)",
              "INSERT INTO store_clock (one, correction_ms, corrections) VALUES (1, 0, 0)",
              // Updated by every commit: room for the next row beside it.
              "CREATE TABLE store_replica (id TEXT NOT NULL PRIMARY KEY, batch BIGINT NOT NULL,"
              " decided_ms BIGINT NOT NULL) WITH (fillfactor = 20)",
          }},
          {}};
}

absl::StatusOr<PostgresStart> StartPostgres(Connection& connection,
                                            const std::vector<Schema>& schemas, Instant wall) {
  absl::Status status = CheckFit(connection);
  if (!status.ok()) return status;
  const std::string origin = OriginOf(connection);
  return LockedAlone(connection, [&]() -> absl::StatusOr<PostgresStart> {
    absl::Status migrated = Migrate(connection, Engine::kPostgres, schemas, wall);
    if (!migrated.ok()) return migrated;
    return Compare(connection, schemas, wall, origin);
  });
}

absl::Status CheckOrigin(Connection& connection, const std::vector<Schema>& schemas, Instant wall,
                         std::string& origin) {
  const std::string found = OriginOf(connection);
  if (found.empty() || found == origin) return absl::OkStatus();
  absl::Status status =
      LockedAlone(connection, [&] { return Compare(connection, schemas, wall, found); }).status();
  if (status.ok()) origin = found;
  return status;
}

}  // namespace interlock::store
