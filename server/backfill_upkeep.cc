#include "server/backfill_upkeep.h"

#include "lib/backfill/history.h"
#include "lib/work/steps.h"

namespace interlock::server {
namespace {

// What must be left of the claim to begin with a few more.
constexpr absl::Duration kEnough = absl::Seconds(20);

}  // namespace

absl::Status BackfillUpkeep::Schedule() {
  return store_.Write(
      [](store::Transaction& tx) { return work::Schedule(tx, kWorkKind, "history", tx.now()); });
}

absl::StatusOr<work::Outcome> BackfillUpkeep::Step(work::Claim& claim) {
  while (keep_ > absl::ZeroDuration() && claim.Remaining(clock_) > kEnough) {
    int64_t removed = 0;
    absl::Status status = store_.Write([&](store::Transaction& tx) {
      auto gone = backfill::ForgetOldest(tx, tx.now() - keep_);
      removed = gone.ok() ? *gone : 0;
      return gone.status();
    });
    if (!status.ok()) return status;
    if (removed == 0) break;
  }
  return work::Outcome::NextDue(store_.Now() + kEvery);
}

}  // namespace interlock::server
