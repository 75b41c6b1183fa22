#include "lib/store/reader_pool.h"

#include <utility>

#include "lib/store/transaction.h"

namespace interlock::store {
namespace {

absl::Status ReadOn(Connection& connection, const Store::Body& body, const StoreClock& clock) {
  absl::Status status = connection.Execute("BEGIN", {}).status();
  if (!status.ok()) return status;
  // The first query fixes the snapshot; the time is read after it, as in a write.
  status = connection.Query("SELECT 1 FROM store_facts LIMIT 1", {}).status();
  if (status.ok()) {
    ConnectionTransaction transaction(connection, ConnectionTransaction::Access::kRead,
                                      clock.Now());
    status = RunBody(body, transaction);
  }
  connection.Execute("ROLLBACK", {}).IgnoreError();
  return status;
}

}  // namespace

absl::Status ReaderPool::Read(const Store::Body& body) {
  absl::StatusOr<std::unique_ptr<Connection>> connection = Take();
  if (!connection.ok()) return connection.status();
  absl::Status status = ReadOn(**connection, body, clock_);
  GiveBack(std::move(*connection));
  return status;
}

absl::StatusOr<std::unique_ptr<Connection>> ReaderPool::Take() {
  {
    MutexLock lock(mutex_);
    while (idle_.empty() && made_ == kMostReaders) given_back_.Wait(lock);
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ++made_;
  }
  absl::StatusOr<std::unique_ptr<Connection>> connection = open_();
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
