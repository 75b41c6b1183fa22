#include "server/store_opening.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/store/sqlite.h"
#include "server/secret_file.h"
#include "server/store_schemas.h"

namespace interlock::server {

absl::Status CheckFolder(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("store.sqlite.path: ", path, ": there is no folder ", folder.string(),
                   error ? absl::StrCat(" (", error.message(), ")") : "",
                   "; make it, readable by this user alone, or name another path"));
}

store::PostgresOptions PostgresOptionsOf(const config::v1::Postgresql& config) {
  store::PostgresOptions options;
  options.connection_string = [path = config.dsn_file()] {
    return ReadSecretFile("store.postgresql.dsn_file", path);
  };
  if (!config.password_file().empty()) {
    options.password = [path = config.password_file()] {
      return ReadSecretFile("store.postgresql.password_file", path);
    };
  }
  options.schemas = StoreSchemas();
  options.require_synchronous = config.require_synchronous();
  if (config.pool_size() > 0) options.connections = config.pool_size();
  return options;
}

absl::StatusOr<std::unique_ptr<store::Store>> OpenStore(const config::v1::Store& config,
                                                        StoreCallbacks callbacks,
                                                        const Clock& clock) {
  if (config.has_postgresql()) {
    store::PostgresOptions options = PostgresOptionsOf(config.postgresql());
    options.on_batch = std::move(callbacks.batch);
    options.on_clock_jump = std::move(callbacks.clock_jump);
    options.on_notice = std::move(callbacks.notice);
    return store::OpenPostgres(std::move(options), clock);
  }
  if (absl::Status status = CheckFolder(config.sqlite().path()); !status.ok()) return status;
  store::SqliteOptions options;
  options.path = config.sqlite().path();
  options.schemas = StoreSchemas();
  options.on_batch = std::move(callbacks.batch);
  options.on_clock_jump = std::move(callbacks.clock_jump);
  options.on_notice = std::move(callbacks.notice);
  return store::OpenSqlite(std::move(options), clock);
}

}  // namespace interlock::server
