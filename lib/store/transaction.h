// A Transaction on a Connection whose BEGIN was run already.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/connection.h"
#include "lib/store/store.h"

namespace interlock::store {

// A statement that fails fails its body: what PostgreSQL does by itself is done for SQLite
// too, so that a body behaves the same on both.
class ConnectionTransaction : public Transaction {
 public:
  enum class Access { kRead, kWrite };
  ConnectionTransaction(Connection& connection, Access access, Instant now)
      : connection_(connection), access_(access), now_(now) {}

  absl::StatusOr<Rows> Query(const char* sql, Values values) override;
  absl::StatusOr<int64_t> Execute(const char* sql, Values values) override;
  Instant now() const override { return now_; }

  // Whether anything may have been changed.
  bool wrote() const { return wrote_; }
  // OK, or the first error of a statement.
  const absl::Status& failure() const { return failure_; }

 private:
  Connection& connection_;
  const Access access_;
  const Instant now_;
  bool wrote_ = false;
  absl::Status failure_;
};

// Runs `body` and gives its result: what it returned, or the failure of a statement that
// it passed over, or INTERNAL for an exception.
absl::Status RunBody(const Store::Body& body, ConnectionTransaction& transaction);

}  // namespace interlock::store
