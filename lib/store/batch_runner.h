// Decides and commits a batch of write bodies: one BEGIN, a savepoint per body, one
// COMMIT. One thread at a time.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lib/store/connection.h"
#include "lib/store/store.h"
#include "lib/store/store_clock.h"

namespace interlock::store {

struct PendingWrite {
  Store::Body body;
  Store::Done done;
  absl::Status result;
};

class BatchRunner {
 public:
  // Both must outlive this.
  BatchRunner(Connection& connection, StoreClock& clock) : connection_(connection), clock_(clock) {}

  // Runs every body and sets every result; an OK result is durable. Where the database
  // fails half-way, or refuses the commit for what one body did, each body is run again
  // alone. Where the database can't commit, every result is its failure: also those of
  // bodies that were refused, since what they were refused for is not there.
  void Run(std::vector<PendingWrite>& batch);

  // Commits something of no consequence, to see whether commits work.
  void Probe();

  // OK, or why the last commit failed; once damaged, always.
  const absl::Status& health() const { return health_; }

 private:
  using Batch = std::vector<PendingWrite>;
  struct Outcome {
    absl::Status status;        // an error: nothing was committed and no result counts
    bool alone_may_do = false;  // the same bodies one by one may fare better
  };
  // Bodies [first, last) in one transaction.
  Outcome RunTogether(Batch& batch, size_t first, size_t last);
  Outcome Decide(Batch& batch, size_t first, size_t last);
  void NoteHealth(const absl::Status& status);
  absl::Status RunBodies(Batch& batch, size_t first, size_t last, Instant now);
  absl::Status RunInSavepoint(PendingWrite& write, Instant now);
  absl::Status Commit(Instant now, bool changed);
  absl::Status Control(const char* sql) { return connection_.Execute(sql, {}).status(); }

  Connection& connection_;
  StoreClock& clock_;
  absl::Status health_;
};

}  // namespace interlock::store
