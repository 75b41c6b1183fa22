// The worker that retires: for each partition of a backfill whose rollback window is over it
// takes a REPLACE reservation, marks what the ledger names and Druid still uses and hides,
// reads that back, once more after a settling time, and gives the time back.
//
// Guarantees: only ids that the backfill's own ledger wrote down; only while newer versions
// that are loaded hide all of them, wherever they reach; nothing while the window lasts; a
// mark goes out only while claim and reservation outlast the call.
//
// Threads: Step from any thread.
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "lib/backfill/options.h"
#include "lib/backfill/runner.h"
#include "lib/work/steps.h"

namespace interlock::backfill {

// The step's kind in lib/work, whose key is the backfill's id.
inline constexpr char kRetireWorkKind[] = "retire";

class RetireWorker {
 public:
  // All of `world` must outlive this.
  RetireWorker(Runner::World world, Options options)
      : world_(std::move(world)), options_(std::move(options)) {}

  // For work::Loop::Handle(kRetireWorkKind, …).
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  const Runner::World world_;
  const Options options_;
};

}  // namespace interlock::backfill
