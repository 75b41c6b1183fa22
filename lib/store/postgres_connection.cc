#include "lib/store/postgres_connection.h"

#include <libpq-fe.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "lib/store/soci_connection.h"
#include "lib/store/store_errors.h"
#include "soci/postgresql/soci-postgresql.h"

namespace interlock::store {
namespace {

// A server that hangs inside a transaction loses it, and its locks with it, after
// idle_in_transaction_session_timeout; one whose host is gone, when TCP notices.
constexpr char kSession[] =
    "SET client_min_messages = warning; SET jit = off;"
    " SET idle_in_transaction_session_timeout = '10s';"
    " SET client_connection_check_interval = '2s';"
    " SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 2;"
    " SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000;";
constexpr char kWriteSession[] = " SET lock_timeout = '10s'; SET statement_timeout = '30s'";
constexpr char kReadSession[] = " SET lock_timeout = '10s'; SET statement_timeout = '60s'";
constexpr char kMigrateSession[] = " SET lock_timeout = 0; SET statement_timeout = 0";
// Acknowledged means on the disk, and at the standby where one is to confirm.
constexpr char kDurable[] =
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')";

using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;

bool StartsWithOneOf(absl::string_view state, std::initializer_list<const char*> beginnings) {
  for (const char* beginning : beginnings) {
    if (absl::StartsWith(state, beginning)) return true;
  }
  return false;
}

// By SQLSTATE (PostgreSQL, appendix A).
absl::Status Meaning(absl::string_view state, absl::string_view text, PostgresUse use) {
  // Deadlock, serialization; a server that goes down, fails over, or cut us off.
  if (StartsWithOneOf(state, {"40", "08", "57P", "25P03", "25P04"})) return Conflict(text);
  if (StartsWithOneOf(state, {"23"})) return ConstraintViolated(text);
  if (StartsWithOneOf(state, {"25006"})) {
    return use == PostgresUse::kRead ? ReadOnlyTransaction() : Conflict(text);
  }
  if (StartsWithOneOf(state, {"XX001", "XX002"})) return StoreCorrupt(text);
  // No resources, system errors, time-outs, no permission.
  if (StartsWithOneOf(state, {"53", "58", "57", "55", "42501"})) return StoreUnavailable(text);
  return BadStatement(text);
}

class SociPostgresConnection : public PostgresConnection {
 public:
  SociPostgresConnection(std::unique_ptr<soci::session> session, PostgresUse use)
      : soci_(std::move(session), *this), use_(use) {
    PQsetNoticeReceiver(conn(), &Noticed, this);
  }

  absl::StatusOr<Rows> Query(const char* sql, Values values) override {
    absl::Status status = CheckTexts(values);
    if (!status.ok()) return status;
    return soci_.Query(sql, values);
  }
  absl::StatusOr<int64_t> Execute(const char* sql, Values values) override {
    absl::Status status = CheckTexts(values);
    if (!status.ok()) return status;
    return soci_.Execute(sql, values);
  }

  absl::Status Run(const std::string& sql) override {
    return StatusOf(Result(PQexec(conn(), sql.c_str()), PQclear).get());
  }

  absl::Status Commit(const std::string& sql, bool& confirmed) override {
    warned_ = false;
    const Result result(PQexec(conn(), sql.c_str()), PQclear);
    absl::Status status = StatusOf(result.get());
    // A COMMIT of a transaction that had failed says OK, and ROLLBACK.
    if (status.ok() && absl::string_view(PQcmdStatus(result.get())) != "COMMIT") {
      status = Conflict("the transaction was rolled back");
    }
    confirmed = !warned_;
    return status;
  }

  bool usable() const override { return PQstatus(conn()) == CONNECTION_OK; }

 private:
  class Soci : public SociConnection {
   public:
    Soci(std::unique_ptr<soci::session> session, const SociPostgresConnection& owner)
        : SociConnection(std::move(session), Engine::kPostgres), owner_(owner) {}
    PGconn* conn() const {
      return static_cast<soci::postgresql_session_backend*>(backend())->conn_;
    }

   protected:
    absl::Status Classify(const soci::soci_error& error) const override {
      const auto* known = dynamic_cast<const soci::postgresql_soci_error*>(&error);
      return owner_.StatusOf(known == nullptr ? "" : known->sqlstate(), error.what());
    }
    // SOCI's own way to describe a statement is to run it.
    int CountColumns(soci::statement& statement) const override {
      const auto* backend =
          static_cast<const soci::postgresql_statement_backend*>(statement.get_backend());
      const Result described(PQdescribePrepared(conn(), backend->statementName_.c_str()), PQclear);
      return PQnfields(described.get());
    }

   private:
    const SociPostgresConnection& owner_;
  };

  PGconn* conn() const { return soci_.conn(); }

  absl::Status StatusOf(absl::string_view state, absl::string_view text) const {
    if (!usable()) return Conflict(absl::StrCat("the connection was lost: ", text));
    return Meaning(state, text, use_);
  }
  // Null where the connection is gone, which libpq takes.
  absl::Status StatusOf(const PGresult* result) const {
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return absl::OkStatus();
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return StatusOf(state == nullptr ? "" : state, PQresultErrorMessage(result));
  }

  // libpq takes texts up to their first zero byte, and what follows would be lost.
  static absl::Status CheckTexts(Values values) {
    for (const Value& value : values) {
      const std::string* text = value.AsText();
      if (text != nullptr && text->find('\0') != std::string::npos) {
        return BadStatement("a text with a zero byte, which PostgreSQL does not store");
      }
    }
    return absl::OkStatus();
  }

  static void Noticed(void* self, const PGresult* notice) {
    const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity != nullptr && absl::string_view(severity) == "WARNING") {
      static_cast<SociPostgresConnection*>(self)->warned_ = true;
    }
  }

  Soci soci_;
  const PostgresUse use_;
  bool warned_ = false;
};

std::string SessionOf(PostgresUse use) {
  switch (use) {
    case PostgresUse::kWrite:
      return absl::StrCat(kSession, kWriteSession);
    case PostgresUse::kRead:
      return absl::StrCat(kSession, kReadSession);
    case PostgresUse::kMigrate:
      return absl::StrCat(kSession, kMigrateSession);
  }
  return kSession;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresConnection>> OpenPostgresConnection(
    const PostgresAddress& address, PostgresUse use) {
  try {
    auto connection = std::make_unique<SociPostgresConnection>(
        std::make_unique<soci::session>(soci::postgresql, address.text), use);
    absl::Status status = connection->Run(SessionOf(use));
    if (status.ok()) status = connection->Run(kDurable);
    if (IsConflict(status)) return StoreUnavailable(status.message());
    if (!status.ok()) return status;
    return connection;
  } catch (const soci::soci_error& error) {
    return StoreUnavailable(address.WithoutPassword(error.what()));
  }
}

}  // namespace interlock::store
