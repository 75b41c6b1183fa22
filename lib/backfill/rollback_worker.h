// The worker of rollbacks: moves each partition of a backfill's rollback on by one step.
//
// Guarantees: nothing is marked unused before everything that is to come back is used
// (seen, not believed); a call that changes Druid goes out only while the worker's claim and
// the reservation last longer than the call; the time stays blocked from the first call
// until the last is proven, whatever becomes of the reservation.
//
// Threads: Step from any thread.
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "lib/backfill/options.h"
#include "lib/backfill/record.h"
#include "lib/backfill/rollback.h"
#include "lib/backfill/runner.h"
#include "lib/lease/reservation.h"
#include "lib/work/steps.h"

namespace interlock::backfill {

// The step's kind in lib/work, whose key is the backfill's id.
inline constexpr char kRollbackWorkKind[] = "rollback";

// HELD where others have some of it.
absl::StatusOr<lease::Grant> ReserveForRollback(store::Transaction& tx, const Backfill& backfill,
                                                const std::vector<Interval>& intervals,
                                                const Options& options,
                                                const audit::Caller& caller);

class RollbackWorker {
 public:
  // All of `world` must outlive this.
  RollbackWorker(Runner::World world, Options options)
      : world_(std::move(world)), options_(std::move(options)) {}

  // For work::Loop::Handle(kRollbackWorkKind, …).
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  const Runner::World world_;
  const Options options_;
};

}  // namespace interlock::backfill
