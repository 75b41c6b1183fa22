// Takes away backfills that are older than retention.history. One step of lib/work, so that of
// several servers one does it.
//
// Threads: Step from one at a time, as the loop does it.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/work/loop.h"

namespace interlock::server {

class BackfillUpkeep {
 public:
  static constexpr char kWorkKind[] = "backfill_history";
  static constexpr absl::Duration kEvery = absl::Minutes(10);

  // `keep` zero: forever. Both must outlive it.
  BackfillUpkeep(store::Store& store, const Clock& clock, absl::Duration keep)
      : store_(store), clock_(clock), keep_(keep) {}

  // Makes the step due; call once the store is open.
  absl::Status Schedule();
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  store::Store& store_;
  const Clock& clock_;
  const absl::Duration keep_;
};

}  // namespace interlock::server
