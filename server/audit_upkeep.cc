#include "server/audit_upkeep.h"

#include "lib/audit/block.h"
#include "lib/audit/chain.h"
#include "lib/audit/retention.h"
#include "lib/work/steps.h"
#include "server/log.h"

namespace interlock::server {
namespace {

// What must be left of the claim to begin with one block more.
constexpr absl::Duration kEnough = absl::Seconds(20);

}  // namespace

absl::Status AuditUpkeep::Schedule() {
  return store_.Write(
      [](store::Transaction& tx) { return work::Schedule(tx, kWorkKind, "chain", tx.now()); });
}

absl::StatusOr<bool> AuditUpkeep::Chain(const work::Claim& claim) {
  bool any = false;
  while (claim.Remaining(clock_) > kEnough) {
    auto chained = audit::ChainOnce(store_);
    if (!chained.ok()) return chained.status();
    if (*chained == 0) break;
    any = true;
  }
  return any;
}

absl::StatusOr<bool> AuditUpkeep::RemoveOld(const work::Claim& claim) {
  bool any = false;
  while (keep_ > absl::ZeroDuration() && claim.Remaining(clock_) > kEnough) {
    int64_t removed = 0;
    absl::Status status = store_.Write([&](store::Transaction& tx) {
      auto gone = audit::RemoveOldest(tx, tx.now() - keep_);
      removed = gone.ok() ? *gone : 0;
      return gone.status();
    });
    if (!status.ok()) return status;
    if (removed == 0) break;
    any = true;
  }
  return any;
}

void AuditUpkeep::Tell() {
  const Instant now = store_.Now();
  if (now - told_ < kTellEvery) return;
  store_
      .Read([&](store::Transaction& tx) {
        auto head = audit::ReadHead(tx);
        if (!head.ok()) return head.status();
        told_ = now;
        Log(LogLevel::kInfo, "the audit's chain stands here",
            {{"sequence", std::to_string(head->position)}, {"chain_hash", head->hash}});
        return absl::OkStatus();
      })
      .IgnoreError();  // told the next time
}

absl::StatusOr<work::Outcome> AuditUpkeep::Step(work::Claim& claim) {
  auto chained = Chain(claim);
  if (!chained.ok()) return chained.status();
  auto removed = RemoveOld(claim);
  if (!removed.ok()) return removed.status();
  Tell();
  return work::Outcome::NextDue(store_.Now() + (*chained || *removed ? kBusyEvery : kIdleEvery));
}

}  // namespace interlock::server
