// A batch's transaction on PostgreSQL; see postgres.h for what it promises.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/store/batch_transaction.h"
#include "lib/store/postgres_connection.h"
#include "lib/store/postgres_session.h"
#include "lib/time/mutex.h"

namespace interlock::store {

class PostgresTransaction : public BatchTransaction {
 public:
  // `replica` is this process's own row in store_replica: one that no other has or had.
  // `on_connect` is run on each new connection before anything is decided on it, `notify`
  // after a commit. `session` must outlive this.
  using OnConnect = std::function<absl::Status(Connection&)>;
  using Notify = std::function<void(const std::set<std::string>& channels)>;
  PostgresTransaction(PostgresSession& session, std::string replica, OnConnect on_connect,
                      Notify notify)
      : session_(session),
        replica_(std::move(replica)),
        on_connect_(std::move(on_connect)),
        notify_(std::move(notify)) {}

  absl::Status Begin(const LockSet& locks) override;
  absl::StatusOr<bool> TryLock(const std::string& name) override;
  Connection& connection() override { return *connection_; }
  Instant now() const override { return now_; }
  bool shared() const override { return true; }
  absl::Status Commit(bool changed, const std::set<std::string>& channels) override;
  void Rollback() override;

  // No waiting for a lost answer any more.
  void Close() INTERLOCK_EXCLUDES(mutex_);

 private:
  // Between two tries to find out what a lost COMMIT did.
  static constexpr std::chrono::milliseconds kBetweenTries{200};
  // Refusals alone are committed so often, for the time they went by.
  static constexpr absl::Duration kDecidedEvery = absl::Seconds(1);

  absl::Status EnsureConnected();
  absl::Status BeginOnce(const LockSet& locks);
  std::string CommitText(int64_t batch) const;
  // What became of a COMMIT whose answer was lost.
  absl::Status Settle(int64_t batch, const absl::Status& lost);
  absl::StatusOr<bool> WasCommitted(int64_t batch);
  // False when there is no time left.
  bool WaitForNextTry(std::chrono::nanoseconds until) INTERLOCK_EXCLUDES(mutex_);

  PostgresSession& session_;
  const std::string replica_;
  const OnConnect on_connect_;
  const Notify notify_;
  std::unique_ptr<PostgresConnection> connection_;
  int64_t batch_ = 0;  // the last one that a COMMIT was sent for
  Instant now_;
  Instant decided_;  // stored
  Mutex mutex_;
  CondVar closed_;
  bool closing_ INTERLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace interlock::store
