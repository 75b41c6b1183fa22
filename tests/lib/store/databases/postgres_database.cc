#include "tests/lib/store/databases/postgres_database.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"

namespace interlock::store {
namespace {

std::string ServerDsn() {
  const char* dsn = std::getenv("INTERLOCK_POSTGRES_DSN");
  if (dsn != nullptr) return dsn;
  throw std::runtime_error(
      "no PostgreSQL: by hand, deploy/postgres/run start, then export"
      " INTERLOCK_POSTGRES_DSN='host=127.0.0.1 port=5440 user=interlock dbname=postgres'");
}

std::string AskAt(const std::string& dsn, const std::string& sql) {
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(dsn.c_str()), PQfinish);
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection.get(), sql.c_str()),
                                                              PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK) return "";
  if (status != PGRES_TUPLES_OK) {
    throw std::runtime_error(absl::StrCat(sql, ": ", PQerrorMessage(connection.get())));
  }
  return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

}  // namespace

std::string AskServer(const std::string& sql) { return AskAt(ServerDsn(), sql); }

PostgresDatabase::PostgresDatabase() {
  static std::atomic<int> made{0};
  name_ = absl::StrCat("test_", getpid(), "_", ++made);
  // A later dbname counts.
  dsn_ = absl::StrCat(ServerDsn(), " dbname=", name_);
  AskServer(absl::StrCat("DROP DATABASE IF EXISTS ", name_, " WITH (FORCE)"));
  AskServer(absl::StrCat("CREATE DATABASE ", name_));
}

PostgresDatabase::~PostgresDatabase() {
  AskServer(absl::StrCat("DROP DATABASE IF EXISTS ", name_, " WITH (FORCE)"));
}

PostgresOptions PostgresDatabase::Options(std::vector<Schema> schemas, const Clock& clock) const {
  PostgresOptions options;
  options.connection_string = [dsn = dsn_] { return dsn; };
  options.schemas = std::move(schemas);
  options.database_time = [&clock] { return clock.Now(); };
  return options;
}

absl::StatusOr<std::unique_ptr<Store>> PostgresDatabase::Open(std::vector<Schema> schemas,
                                                              const Clock& clock) {
  return OpenPostgres(Options(std::move(schemas), clock), clock);
}

std::string PostgresDatabase::Ask(const std::string& sql) const { return AskAt(dsn_, sql); }

void PostgresDatabase::CutConnections() const {
  AskServer(absl::StrCat("SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity",
                         " WHERE datname = '", name_, "'"));
}

}  // namespace interlock::store
