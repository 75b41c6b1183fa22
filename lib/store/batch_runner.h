// Decides and commits a batch of write bodies: one BEGIN, all bodies, one COMMIT. One
// thread at a time.
//
// Bodies run bare at first. Only where one fails after it has changed something is the
// batch begun anew with a savepoint around each, and its changes undone alone: a savepoint
// costs two statements and a copy of every page that is touched, and such a body is rare.
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
  enum class Way { kBare, kSavepoints, kAlone, kGiveUp };
  struct Outcome {
    absl::Status status;      // an error: nothing was committed and no result counts
    Way next = Way::kGiveUp;  // what may fare better then
  };
  // Bodies [first, last) in one transaction, bare or in savepoints.
  Outcome RunTogether(Batch& batch, size_t first, size_t last, Way way);
  void RunAlone(Batch& batch);
  Outcome Decide(Batch& batch, size_t first, size_t last, Way way);
  void NoteHealth(const absl::Status& status);
  Outcome RunBare(PendingWrite& write, Instant now);
  Outcome RunInSavepoint(PendingWrite& write, Instant now);
  absl::Status Commit(Instant now, bool changed);
  absl::Status Control(const char* sql) { return connection_.Execute(sql, {}).status(); }

  Connection& connection_;
  StoreClock& clock_;
  absl::Status health_;
};

}  // namespace interlock::store
