// What every connection of one store shares: the address, the clock, and what was last
// seen of the database.
//
// Threads: any.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/database_clock.h"
#include "lib/store/postgres.h"
#include "lib/store/postgres_connection.h"

namespace interlock::store {

// Advisory locks live in one space of the database; ours are told by their first number.
inline constexpr int kLockClass = 1229734731;  // "ILCK"
// The second numbers of two locks that are no name's.
inline constexpr int kEverythingLock = 0;
inline constexpr int kMigrationLock = 1;
// The second number of a name's: a hash. Two names of one number follow each other for
// nothing, once in billions.
int LockNumber(const std::string& name);

class PostgresSession {
 public:
  // `clock` must outlive this.
  PostgresSession(PostgresOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock), time_(clock, options_.on_clock_jump) {}

  const PostgresOptions& options() const { return options_; }
  const Clock& clock() const { return clock_; }
  DatabaseClock& time() { return time_; }

  absl::StatusOr<std::unique_ptr<PostgresConnection>> Connect(PostgresUse use) const;

  struct Look {
    DatabaseTime time;
    bool synchronous = false;  // a standby has to confirm commits
  };
  // Reads the database's clock. Inside a transaction it fixes the snapshot, where that is
  // one for all statements.
  absl::StatusOr<Look> LookAt(Connection& connection) const;
  // The time for a read: what our own clock says where the database's has jumped.
  absl::StatusOr<Instant> ReadTime(Connection& connection);
  // Makes up for a jump, in a transaction of its own; nothing where another has done so.
  absl::Status CorrectTime(Connection& connection);

 private:
  const PostgresOptions options_;
  const Clock& clock_;
  DatabaseClock time_;
};

}  // namespace interlock::store
