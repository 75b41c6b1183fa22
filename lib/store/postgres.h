// The store in a PostgreSQL database (15 or later): for any number of servers.
//
// Guarantee: what was acknowledged was committed by the primary with synchronous_commit on.
// With asynchronous replication a fail-over can lose the last commits; what then must not
// repeat itself (fencing tokens) is lifted when the first server sees the new primary.
//
// Decisions of several servers: a write that names its locks follows only those that share
// one with it; any other follows all. Locks are taken in one order everywhere, before the
// time is read; time is the database's clock_timestamp(), checked by each server with its
// own monotonic clock (database_clock.h).
//
// A lost connection is made anew. What was not committed is decided again; where the answer
// to a COMMIT was lost, the new connection reads from the server's own row whether it was
// done, and where none can be made in kSettleFor the callers get STORE_COMMIT_UNKNOWN.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/group_commit.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::store {

struct PostgresOptions {
  // A connection string of libpq's, `host=a,b port=5432 dbname=… user=… sslmode=…` or a
  // postgresql:// URI. Asked for at each connection, so that a changed password is taken
  // up. What it does not set gets values that notice a lost peer within ten seconds.
  std::function<absl::StatusOr<std::string>()> connection_string;
  // Used where the connection string has none. May be empty.
  std::function<absl::StatusOr<std::string>()> password;
  // As in SqliteOptions.
  std::vector<Schema> schemas;
  // Refuse writes unless a standby confirms each commit.
  bool require_synchronous = false;
  // Connections in all: one that writes, one that listens, the rest read. At least 3.
  int connections = 8;
  // As in GroupCommit::Options.
  size_t largest_batch = 512;
  size_t most_waiting = 20000;
  std::function<void(const BatchReport&)> on_batch;
  // The database's clock moved by so much against ours. On the store's threads.
  std::function<void(absl::Duration)> on_clock_jump;
  // Something that people should know of has come up. On the store's threads.
  std::function<void(const StoreNotice&)> on_notice;
  // For tests alone, in place of the database's clock.
  std::function<Instant()> database_time;
};

// How long the answer to a COMMIT is looked for after it was lost.
inline constexpr absl::Duration kSettleFor = absl::Seconds(15);

// Connects, brings the schema up (one server at a time), reads the clock. `clock` must
// outlive the store. Errors: STORE_UNAVAILABLE, STORE_NEWER_SCHEMA, STORE_MIGRATION,
// STORE_UNFIT (an older PostgreSQL, another encoding), STORE_CONNECTION_STRING. None of
// them shows a password.
absl::StatusOr<std::unique_ptr<Store>> OpenPostgres(PostgresOptions options, const Clock& clock);

// Brings the schema up and closes again.
absl::Status MigratePostgres(PostgresOptions options, const Clock& clock);

}  // namespace interlock::store
