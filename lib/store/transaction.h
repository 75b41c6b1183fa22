// A Transaction on a Connection whose BEGIN was run already.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/batch_transaction.h"
#include "lib/store/connection.h"
#include "lib/store/store.h"

namespace interlock::store {

// A statement that fails fails its body: what PostgreSQL does by itself is done for SQLite
// too, so that a body behaves the same on both.
class ConnectionTransaction : public Transaction {
 public:
  absl::StatusOr<Rows> Query(const char* sql, Values values) override;
  absl::StatusOr<int64_t> Execute(const char* sql, Values values) override;

  // OK, or the first error of a statement.
  const absl::Status& failure() const { return failure_; }

 protected:
  enum class Access { kRead, kWrite };
  ConnectionTransaction(Connection& connection, Access access)
      : connection_(connection), access_(access) {}
  // For good.
  absl::Status Fail(absl::Status status) { return failure_ = std::move(status); }
  bool wrote_ = false;

 private:
  Connection& connection_;
  const Access access_;
  absl::Status failure_;
};

class ReadTransaction : public ConnectionTransaction {
 public:
  ReadTransaction(Connection& connection, Instant now)
      : ConnectionTransaction(connection, Access::kRead), now_(now) {}
  absl::Status Lock(const std::string& name) override;
  absl::Status Notify(const std::string& channel) override;
  Instant now() const override { return now_; }

 private:
  const Instant now_;
};

// One body's part of a batch.
class WriteTransaction : public ConnectionTransaction {
 public:
  // `held` are the locks of the batch: what this one takes is added.
  WriteTransaction(BatchTransaction& batch, LockSet& held)
      : ConnectionTransaction(batch.connection(), Access::kWrite), batch_(batch), held_(held) {}
  absl::Status Lock(const std::string& name) override;
  absl::Status Notify(const std::string& channel) override;
  Instant now() const override { return batch_.now(); }

  // Whether anything may have been changed.
  bool wrote() const { return wrote_; }
  // The lock that it could not have: the batch must begin with it.
  const std::string& wanted() const { return wanted_; }
  const std::set<std::string>& channels() const { return channels_; }

 private:
  BatchTransaction& batch_;
  LockSet& held_;
  std::string wanted_;
  std::set<std::string> channels_;
};

// Runs `body` and gives its result: what it returned, or the failure of a statement that
// it passed over, or INTERNAL for an exception.
absl::Status RunBody(const Store::Body& body, ConnectionTransaction& transaction);

}  // namespace interlock::store
