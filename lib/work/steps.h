// Which worker does which due step (design: Workers).
//
// A step is a row: a kind ("backfill"), a key of that kind, and when it is due. A worker
// claims it with a lease of its own, does it, and says when the next is due or that there
// is none. A worker that stalls loses its claim when the lease ends: another takes the
// step, and what the stalled one says afterwards is refused. It must send nothing into
// Druid unless Claim::Remaining exceeds the call's own deadline.
//
// Threads: functions on a transaction; a Claim is of one worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::work {

store::Schema WorkSchema();

// Makes the step due at `due`, or sooner where it was due later. While a worker has it
// claimed, the wish is kept and the step comes again after that worker is through: no
// call is lost. Call Loop::Wake when the transaction is committed.
absl::Status Schedule(store::Transaction& tx, const std::string& kind, const std::string& key,
                      Instant due);

// Takes the step back, claimed or not; a claim on it ends with CLAIM_LOST.
absl::Status Unschedule(store::Transaction& tx, const std::string& kind, const std::string& key);

struct Claim {
  std::string kind;
  std::string key;
  int64_t attempts = 0;  // failures in a row before this one
  int64_t number = 0;    // of this claim: rises with every claim in the store
  Instant due;
  // When the claim ends, on Clock::Monotonic; read before the claim was made, so never late.
  std::chrono::nanoseconds ends{0};

  // What is left of the claim; negative when it has ended.
  absl::Duration Remaining(const Clock& clock) const;
};

// Who claims, for people who look into the table, and for how long.
struct Claimant {
  std::string owner;
  absl::Duration lease = absl::Seconds(60);
};

// Claims up to `most` of the steps that are due, the longest due first.
absl::StatusOr<std::vector<Claim>> ClaimDue(store::Store& store, const Clock& clock,
                                            const Claimant& claimant,
                                            const std::vector<std::string>& kinds, int64_t most);

// Ends all claims: their steps are due at once. Only where nobody can be at work on one: at
// the start of the one process that has the store (SQLite).
absl::Status ForgetClaims(store::Transaction& tx);

// Lengthens the claim to `lease` from now. CLAIM_LOST where it ended already.
absl::Status Extend(store::Store& store, const Clock& clock, Claim& claim, absl::Duration lease);

// The three ways to be through with a claim, in the transaction that stores what was done:
// CLAIM_LOST (FAILED_PRECONDITION) undoes it where another worker may have the step.
absl::Status Reschedule(store::Transaction& tx, const Claim& claim, Instant due);
absl::Status Finish(store::Transaction& tx, const Claim& claim);
// The step comes again at `due`, with one attempt more on its count.
absl::Status Retry(store::Transaction& tx, const Claim& claim, Instant due);

// Only checks the claim, for a transaction that stores something on the way.
absl::Status CheckClaim(store::Transaction& tx, const Claim& claim);

// When the next step of these kinds can be claimed; nothing where there is none.
absl::StatusOr<std::optional<Instant>> NextDue(store::Transaction& tx,
                                               const std::vector<std::string>& kinds);

}  // namespace interlock::work
