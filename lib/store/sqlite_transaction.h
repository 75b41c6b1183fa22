// A batch's transaction on SQLite: the writer is alone at its work, so locks cost nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/store/batch_transaction.h"
#include "lib/store/listeners.h"
#include "lib/store/mark_file.h"
#include "lib/store/store_clock.h"

namespace interlock::store {

class SqliteTransaction : public BatchTransaction {
 public:
  // What is written beside the database with each commit.
  struct Beside {
    MarkFile& file;
    std::vector<std::string> newest;  // of the schemas
  };
  // All must outlive this.
  SqliteTransaction(Connection& connection, StoreClock& clock, Listeners& listeners, Beside beside)
      : connection_(connection), clock_(clock), listeners_(listeners), beside_(std::move(beside)) {}

  absl::Status Begin(const LockSet& locks) override;
  absl::StatusOr<bool> TryLock(const std::string& name) override;
  Connection& connection() override { return connection_; }
  Instant now() const override { return now_; }
  bool shared() const override { return false; }
  absl::Status Commit(bool changed, const std::set<std::string>& channels) override;
  void Rollback() override;

 private:
  Connection& connection_;
  StoreClock& clock_;
  Listeners& listeners_;
  const Beside beside_;
  Instant now_;
};

}  // namespace interlock::store
