#include "lib/store/postgres_transaction.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

constexpr char kNotSynchronous[] =
    "require_synchronous is set, and no standby has to confirm commits: set"
    " synchronous_standby_names on the database's primary";

std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
}

// BEGIN and all locks, in one exchange: the lock on everything first, shared by those who
// name theirs; then the names', by number. The same order everywhere: no two servers wait
// for each other.
std::string BeginText(const LockSet& locks) {
  std::string text =
      absl::StrCat("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock",
                   locks.everything ? "" : "_shared", "(", kLockClass, ", ", kEverythingLock, ")");
  if (locks.everything || locks.names.empty()) return text;
  std::set<int> numbers;
  for (const std::string& name : locks.names) numbers.insert(LockNumber(name));
  absl::StrAppend(&text, "; SELECT pg_advisory_xact_lock(", kLockClass, ", n) FROM unnest(ARRAY[",
                  absl::StrJoin(numbers, ","), "]) AS n");
  return text;
}

}  // namespace

absl::Status PostgresTransaction::EnsureConnected() {
  if (connection_ != nullptr && connection_->usable()) return absl::OkStatus();
  connection_.reset();
  absl::StatusOr<std::unique_ptr<PostgresConnection>> connection =
      session_.Connect(PostgresUse::kWrite);
  if (!connection.ok()) return connection.status();
  absl::Status status = on_connect_(**connection);
  if (!status.ok()) return status;
  connection_ = std::move(*connection);
  return absl::OkStatus();
}

absl::Status PostgresTransaction::Begin(const LockSet& locks) {
  absl::Status status;
  // A connection that was idle may have been lost since; and a jump is made up for once.
  for (int attempt = 0; attempt < 3; ++attempt) {
    status = EnsureConnected();
    if (!status.ok()) return IsConflict(status) ? StoreUnavailable(status.message()) : status;
    status = BeginOnce(locks);
    if (status.ok()) return status;
    Rollback();
    if (!IsConflict(status)) return status;
  }
  return status;
}

absl::Status PostgresTransaction::BeginOnce(const LockSet& locks) {
  absl::Status status = connection_->Run(BeginText(locks));
  if (!status.ok()) return status;
  absl::StatusOr<PostgresSession::Look> look = session_.LookAt(*connection_);
  if (!look.ok()) return look.status();
  if (session_.options().require_synchronous && !look->synchronous) {
    return StoreUnavailable(kNotSynchronous);
  }
  const DatabaseClock::Judged judged = session_.time().Judge(look->time);
  if (judged.jump != absl::ZeroDuration()) {
    Rollback();
    status = session_.CorrectTime(*connection_);
    return status.ok() ? Conflict("the database's clock jumped") : status;
  }
  now_ = judged.now;
  return absl::OkStatus();
}

absl::StatusOr<bool> PostgresTransaction::TryLock(const std::string& name) {
  absl::StatusOr<Rows> rows = connection_->Query(
      "SELECT CASE WHEN pg_try_advisory_xact_lock(CAST(:class AS INTEGER),"
      " CAST(:number AS INTEGER)) THEN 1 ELSE 0 END",
      {kLockClass, LockNumber(name)});
  if (!rows.ok()) return rows.status();
  if (!rows->front().Flag(0)) return false;
  // Who held it before may have decided at a later time than this batch's.
  absl::StatusOr<Instant> now = session_.ReadTime(*connection_);
  if (!now.ok()) return now.status();
  now_ = std::max(now_, *now);
  return true;
}

std::string PostgresTransaction::CommitText(int64_t batch) const {
  // A COMMIT that waits for its standby must not be cut off: it would be said to be done.
  return absl::StrCat(
      "SET LOCAL statement_timeout = 0;"
      " INSERT INTO store_replica (id, batch, decided_ms) VALUES (",
      Quoted(replica_), ", ", batch, ", ", now_.millis(),
      ") ON CONFLICT (id) DO UPDATE SET batch = excluded.batch,"
      " decided_ms = excluded.decided_ms; COMMIT");
}

absl::Status PostgresTransaction::Commit(bool changed, const std::set<std::string>& channels) {
  if (!changed && now_ - decided_ < kDecidedEvery) return connection_->Run("ROLLBACK");
  const int64_t batch = ++batch_;
  bool confirmed = true;
  absl::Status status = connection_->Commit(CommitText(batch), confirmed);
  if (!connection_->usable()) {
    status = Settle(batch, status);
  } else if (status.ok() && !confirmed && session_.options().require_synchronous) {
    status = CommitUnknown("the database stopped waiting for its standby");
  }
  if (!status.ok()) return status;
  decided_ = now_;
  if (!channels.empty()) notify_(channels);
  return status;
}

absl::Status PostgresTransaction::Settle(int64_t batch, const absl::Status& lost) {
  const std::chrono::nanoseconds until =
      session_.clock().Monotonic() + absl::ToChronoNanoseconds(kSettleFor);
  do {
    absl::StatusOr<bool> committed = WasCommitted(batch);
    if (!committed.ok()) continue;
    return *committed ? absl::OkStatus() : lost;
  } while (WaitForNextTry(until));
  connection_.reset();
  return CommitUnknown(lost.message());
}

absl::StatusOr<bool> PostgresTransaction::WasCommitted(int64_t batch) {
  absl::Status status = EnsureConnected();
  if (!status.ok()) return status;
  // The update waits for that transaction, should it be under way still; and where a
  // standby confirms this commit, it has confirmed that one.
  bool confirmed = true;
  status = connection_->Commit(
      absl::StrCat("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0;"
                   " UPDATE store_replica SET batch = batch WHERE id = ",
                   Quoted(replica_), "; COMMIT"),
      confirmed);
  if (status.ok() && !confirmed) status = Conflict("the standby did not confirm");
  if (!status.ok()) {
    Rollback();
    return status;
  }
  absl::StatusOr<Rows> rows =
      connection_->Query("SELECT batch FROM store_replica WHERE id = :id", {replica_});
  if (!rows.ok()) return rows.status();
  return !rows->empty() && rows->front().Int(0) >= batch;
}

bool PostgresTransaction::WaitForNextTry(std::chrono::nanoseconds until) {
  MutexLock lock(mutex_);
  if (closing_ || session_.clock().Monotonic() >= until) return false;
  closed_.WaitFor(lock, kBetweenTries);
  return !closing_;
}

void PostgresTransaction::Close() {
  MutexLock lock(mutex_);
  closing_ = true;
  closed_.NotifyAll();
}

void PostgresTransaction::Rollback() {
  if (connection_ != nullptr) connection_->Run("ROLLBACK").IgnoreError();
}

}  // namespace interlock::store
