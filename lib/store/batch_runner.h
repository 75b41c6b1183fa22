// Decides and commits a batch of write bodies: one BEGIN, all bodies, one COMMIT. One
// thread at a time.
//
// Bodies run bare at first. Only where one fails after it has changed something is the
// batch begun anew with a savepoint around each, and its changes undone alone: a savepoint
// costs two statements and a copy of every page that is touched, and such a body is rare.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/store/batch_transaction.h"
#include "lib/store/store.h"
#include "lib/store/transaction.h"

namespace interlock::store {

struct PendingWrite {
  Store::Body body;
  Store::Done done;
  // Nothing: it follows every other write.
  std::optional<std::vector<std::string>> locks = std::nullopt;
  absl::Status result = absl::OkStatus();
};

class BatchRunner {
 public:
  // Runs of one batch for what other servers did at the same time.
  static constexpr int kMostRuns = 8;

  // Must outlive this.
  explicit BatchRunner(BatchTransaction& transaction) : transaction_(transaction) {}

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
  // What the bodies of one transaction share.
  struct Shared {
    LockSet held;
    bool changed = false;
    std::set<std::string> channels;
  };
  // Bodies [first, last) in one transaction, bare or in savepoints; again after a conflict.
  Outcome Try(Batch& batch, size_t first, size_t last, Way way);
  Outcome RunTogether(Batch& batch, size_t first, size_t last, Way way);
  void RunAlone(Batch& batch);
  Outcome Decide(Batch& batch, size_t first, size_t last, Way way, Shared& shared);
  void NoteHealth(const absl::Status& status);
  Outcome RunBare(PendingWrite& write, Shared& shared);
  Outcome RunInSavepoint(PendingWrite& write, bool alone, Shared& shared);
  // The failure of a body that no savepoint helps against; OK where there is none.
  absl::Status Fatal(PendingWrite& write, const WriteTransaction& transaction);
  absl::Status Control(const char* sql) {
    return transaction_.connection().Execute(sql, {}).status();
  }

  BatchTransaction& transaction_;
  absl::Status health_;
};

}  // namespace interlock::store
