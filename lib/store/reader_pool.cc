#include "lib/store/reader_pool.h"

#include <utility>

#include "lib/store/transaction.h"

namespace interlock::store {
absl::Status ReaderPool::ReadOn(Connection& connection, const Store::Body& body) {
  absl::Status status = connection.Run(engine_.begin);
  if (!status.ok()) return status;
  const absl::StatusOr<Instant> now = engine_.time(connection);
  status = now.status();
  if (now.ok()) {
    ReadTransaction transaction(connection, *now);
    status = RunBody(body, transaction);
  }
  connection.Execute("ROLLBACK", {}).IgnoreError();
  return status;
}

absl::Status ReaderPool::Read(const Store::Body& body) {
  // Idle connections may all have been lost since they were used.
  for (size_t lost = 0;; ++lost) {
    absl::StatusOr<std::unique_ptr<Connection>> connection = Take();
    if (!connection.ok()) return connection.status();
    absl::Status status = ReadOn(**connection, body);
    const bool usable = (*connection)->usable();
    GiveBack(usable ? std::move(*connection) : nullptr);
    if (usable || lost > engine_.most) return status;
  }
}

absl::StatusOr<std::unique_ptr<Connection>> ReaderPool::Take() {
  {
    MutexLock lock(mutex_);
    while (idle_.empty() && made_ == engine_.most) given_back_.Wait(lock);
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ++made_;
  }
  absl::StatusOr<std::unique_ptr<Connection>> connection = engine_.open();
  if (!connection.ok()) GiveBack(nullptr);
  return connection;
}

void ReaderPool::GiveBack(std::unique_ptr<Connection> connection) {
  MutexLock lock(mutex_);
  if (connection == nullptr) {
    --made_;
  } else {
    idle_.push_back(std::move(connection));
  }
  given_back_.NotifyOne();
}

}  // namespace interlock::store
