#include "lib/store/sqlite_connection.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/store/soci_connection.h"
#include "lib/store/store_errors.h"
#include "soci/sqlite3/soci-sqlite3.h"

namespace interlock::store {
namespace {

// How long a connection waits for another's lock. Within one process only a checkpoint
// that ends can be in the way, for milliseconds; a backup in another process likewise.
constexpr int kBusyTimeoutSeconds = 10;
// Pages that the writer may keep: an index of a million reservations fits. It grows only
// with what is used.
constexpr int kWriterCacheKib = 128 * 1024;
constexpr int kReaderCacheKib = 8 * 1024;

using OnCommit = std::function<void(int64_t wal_frames)>;

class SqliteConnection : public SociConnection {
 public:
  SqliteConnection(std::unique_ptr<soci::session> session, bool read_only)
      : SociConnection(std::move(session), Engine::kSqlite), read_only_(read_only) {}

  absl::Status Prepare(bool durable, int cache_kib) {
    absl::Status status = Run(absl::StrCat("PRAGMA synchronous=", durable ? "FULL" : "OFF"));
    if (status.ok()) status = Run(absl::StrCat("PRAGMA cache_size=-", cache_kib));
    if (status.ok() && read_only_) status = Run("PRAGMA query_only=1");
    return status;
  }

  absl::Status BecomeWriter(OnCommit on_commit) {
    absl::StatusOr<Rows> mode = Query("PRAGMA journal_mode=WAL", {});
    if (!mode.ok()) return mode.status();
    if (mode->empty() || mode->front().Text(0) != "wal") {
      return StoreUnavailable("SQLite can't keep a write-ahead log there (a network disk?)");
    }
    on_commit_ = std::move(on_commit);
    // In place of SQLite's own rule, which makes every thousandth page's writer wait.
    sqlite_api::sqlite3_wal_hook(static_cast<soci::sqlite3_session_backend*>(backend())->conn_,
                                 &Committed, this);
    return absl::OkStatus();
  }

 protected:
  absl::Status Classify(const soci::soci_error& error) const override {
    const auto* sqlite_error = dynamic_cast<const soci::sqlite3_soci_error*>(&error);
    // The low byte is the kind, the rest its particulars.
    const int kind = sqlite_error == nullptr ? SQLITE_ERROR : sqlite_error->result() & 0xff;
    switch (kind) {
      case SQLITE_CONSTRAINT:
        return ConstraintViolated(error.what());
      case SQLITE_READONLY:
        return read_only_ ? ReadOnlyTransaction() : StoreUnavailable(error.what());
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        return StoreCorrupt(error.what());
      case SQLITE_FULL:
      case SQLITE_IOERR:
      case SQLITE_CANTOPEN:
      case SQLITE_NOMEM:
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
      case SQLITE_PROTOCOL:
      case SQLITE_NOLFS:
      case SQLITE_PERM:
        return StoreUnavailable(error.what());
      default:
        return BadStatement(error.what());
    }
  }

  int CountColumns(soci::statement& statement) const override {
    return statement.get_backend()->prepare_for_describe();
  }

 private:
  static int Committed(void* self, sqlite_api::sqlite3*, const char*, int frames) {
    static_cast<SqliteConnection*>(self)->on_commit_(frames);
    return SQLITE_OK;
  }

  const bool read_only_;
  OnCommit on_commit_;
};

// For the whole process, before SQLite is used: no lock per connection, since each is of
// one thread at a time, and no count of all memory under one lock. A tenth of a grant's
// time. Where somebody has used SQLite before, it stays as it is.
void ConfigureOnce() {
  static const bool kConfigured = [] {
    sqlite_api::sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite_api::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    return true;
  }();
  static_cast<void>(kConfigured);
}

absl::StatusOr<std::unique_ptr<SqliteConnection>> Open(const std::string& path, bool read_only,
                                                       bool durable, int cache_kib) {
  ConfigureOnce();
  if (path.empty() || absl::StrContains(path, "\"")) {
    return absl::InvalidArgumentError(absl::StrCat("not a path for a store: '", path, "'"));
  }
  try {
    auto connection = std::make_unique<SqliteConnection>(
        std::make_unique<soci::session>(
            soci::sqlite3, absl::StrCat("dbname=\"", path, "\" timeout=", kBusyTimeoutSeconds)),
        read_only);
    absl::Status status = connection->Prepare(durable, cache_kib);
    if (!status.ok()) return status;
    return connection;
  } catch (const soci::soci_error& error) {
    return StoreUnavailable(absl::StrCat(path, ": ", error.what()));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> OpenSqliteWriter(const std::string& path, bool durable,
                                                             OnCommit on_commit) {
  auto connection = Open(path, false, durable, kWriterCacheKib);
  if (!connection.ok()) return connection.status();
  absl::Status status = (*connection)->BecomeWriter(std::move(on_commit));
  if (!status.ok()) return status;
  return std::move(*connection);
}

absl::StatusOr<std::unique_ptr<Connection>> OpenSqliteReader(const std::string& path) {
  return Open(path, true, true, kReaderCacheKib);
}

absl::StatusOr<std::unique_ptr<Connection>> OpenSqliteAside(const std::string& path, bool durable) {
  return Open(path, false, durable, kReaderCacheKib);
}

}  // namespace interlock::store
