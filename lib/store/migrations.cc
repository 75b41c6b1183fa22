#include "lib/store/migrations.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

constexpr char kVersions[] =
    "CREATE TABLE IF NOT EXISTS schema_version ("
    "module TEXT PRIMARY KEY, version BIGINT NOT NULL, applied_ms BIGINT NOT NULL)";

absl::StatusOr<std::map<std::string, int64_t>> StoredVersions(Connection& connection) {
  absl::Status status = connection.Run(kVersions);
  if (!status.ok()) return status;
  absl::StatusOr<Rows> rows = connection.Query("SELECT module, version FROM schema_version", {});
  if (!rows.ok()) return rows.status();
  std::map<std::string, int64_t> versions;
  for (const Row& row : *rows) versions[row.Text(0)] = row.Int(1);
  return versions;
}

absl::Status CheckKnown(const std::map<std::string, int64_t>& stored,
                        const std::vector<Schema>& schemas) {
  std::map<std::string, int64_t> known;
  for (const Schema& schema : schemas) {
    known[schema.module] = static_cast<int64_t>(schema.steps.size());
  }
  for (const auto& [module, version] : stored) {
    const auto found = known.find(module);
    const int64_t newest = found == known.end() ? 0 : found->second;
    if (version > newest) return NewerSchema(module, version, newest);
  }
  return absl::OkStatus();
}

absl::Status RunStep(Connection& connection, Engine engine, const Schema& schema, int64_t version,
                     Instant now) {
  for (const std::string& statement : schema.steps[version]) {
    const std::optional<std::string> text = RenderSchema(statement, engine);
    absl::Status status = text.has_value() ? connection.Run(*text) : absl::OkStatus();
    if (IsStoreFailure(status)) return status;
    if (!status.ok()) return MigrationFailed(schema.module, version + 1, status.message());
  }
  return connection
      .Execute(
          "INSERT INTO schema_version (module, version, applied_ms) VALUES (:module, :version, :at)"
          " ON CONFLICT (module) DO UPDATE SET version = excluded.version,"
          " applied_ms = excluded.applied_ms",
          {schema.module, version + 1, now})
      .status();
}

}  // namespace

absl::Status Migrate(Connection& connection, Engine engine, const std::vector<Schema>& schemas,
                     Instant now) {
  absl::StatusOr<std::map<std::string, int64_t>> stored = StoredVersions(connection);
  if (!stored.ok()) return stored.status();
  absl::Status status = CheckKnown(*stored, schemas);
  for (const Schema& schema : schemas) {
    const auto newest = static_cast<int64_t>(schema.steps.size());
    for (int64_t version = (*stored)[schema.module]; status.ok() && version < newest; ++version) {
      status = RunStep(connection, engine, schema, version, now);
    }
  }
  return status;
}

}  // namespace interlock::store
