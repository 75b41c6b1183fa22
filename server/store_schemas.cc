#include "server/store_schemas.h"

#include "lib/audit/audit.h"
#include "lib/backfill/handover_rows.h"
#include "lib/backfill/rows.h"
#include "lib/drop/rows.h"
#include "lib/guard/rows.h"
#include "lib/lease/reservations.h"
#include "lib/seal/rows.h"
#include "lib/store/sqlite.h"
#include "lib/sweep/findings.h"
#include "lib/work/steps.h"
#include "server/store_opening.h"

namespace interlock::server {

std::vector<store::Schema> StoreSchemas() {
  return {audit::AuditSchema(),       work::WorkSchema(),   lease::LeaseSchema(),
          backfill::BackfillSchema(), guard::GuardSchema(), drop::DropSchema(),
          sweep::SweepSchema(),       seal::SealSchema(),   backfill::HandoverSchema()};
}

int StoreSchemaVersion() {
  size_t steps = 0;
  for (const auto& schema : StoreSchemas()) steps += schema.steps.size();
  return static_cast<int>(steps);
}

absl::Status MigrateStore(const config::v1::ServerConfig& config, const Clock& clock) {
  if (config.store().has_postgresql()) {
    return store::MigratePostgres(PostgresOptionsOf(config.store().postgresql()), clock);
  }
  if (absl::Status status = CheckFolder(config.store().sqlite().path()); !status.ok()) {
    return status;
  }
  store::SqliteOptions options;
  options.path = config.store().sqlite().path();
  options.schemas = StoreSchemas();
  return store::MigrateSqlite(options, clock);
}

absl::Status BackupStore(const config::v1::ServerConfig& config, const std::string& to) {
  if (config.store().has_postgresql()) {
    return absl::FailedPreconditionError(
        "--backup is for SQLite: back PostgreSQL up with pg_dump, or its own base backups;"
        " deploy/postgres/README.md tells what a restore needs");
  }
  return store::BackupSqlite(config.store().sqlite().path(), to);
}

}  // namespace interlock::server
