// Keeps the audit: chains what was committed, and takes away what is older than
// retention.audit. One step of lib/work, so that of several servers one does it.
//
// Threads: Step from one at a time, as the loop does it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/time/instant.h"
#include "lib/work/loop.h"

namespace interlock::server {

class AuditUpkeep {
 public:
  static constexpr char kWorkKind[] = "audit";
  // After a step that chained something, and after one that found nothing: how long an
  // event may be unchained, against two commits for each look.
  static constexpr absl::Duration kBusyEvery = absl::Seconds(1);
  static constexpr absl::Duration kIdleEvery = absl::Seconds(5);
  // How often the log is told where the chain stands: what is written down elsewhere shows
  // that somebody has rewritten all of it.
  static constexpr absl::Duration kTellEvery = absl::Hours(1);

  // `keep` zero: forever. Both must outlive it.
  AuditUpkeep(store::Store& store, const Clock& clock, absl::Duration keep)
      : store_(store), clock_(clock), keep_(keep) {}

  // Makes the step due; call once the store is open.
  absl::Status Schedule();
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  absl::StatusOr<bool> Chain(const work::Claim& claim);
  absl::StatusOr<bool> RemoveOld(const work::Claim& claim);
  void Tell();

  store::Store& store_;
  const Clock& clock_;
  const absl::Duration keep_;
  Instant told_ = Instant::FromMillis(0);
};

}  // namespace interlock::server
