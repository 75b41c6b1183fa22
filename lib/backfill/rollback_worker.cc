#include "lib/backfill/rollback_worker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/mark_leave.h"
#include "lib/backfill/rollback_look.h"
#include "lib/backfill/rows.h"
#include "lib/druid/observation.h"
#include "lib/druid/timeline.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {
namespace {

std::string PinId(const Rollback& rollback) {
  return absl::StrCat("rollback/", rollback.backfill_id, "/", rollback.partition.start().millis());
}

audit::Caller Own(const Rollback& rollback) {
  return {"interlock", "", absl::StrCat("rolls back ", rollback.backfill_id)};
}

// One pass over one backfill's rollback.
class RollbackPass {
 public:
  RollbackPass(const Runner::World& world, const Options& options, work::Claim& claim)
      : world_(world), options_(options), claim_(claim) {}

  absl::Status Run();
  bool finished() const { return finished_; }
  Instant next() const { return next_; }

 private:
  absl::Status Begin();
  absl::Status Keep(store::Transaction& tx, const Rollback& rollback);
  absl::Status Move(Rollback& rollback);
  absl::Status Revive(Rollback& rollback, const RollbackSight& sight);
  absl::Status Mark(Rollback& rollback, const RollbackSight& sight);
  absl::Status Settle(Rollback& rollback, const RollbackSight& sight);
  absl::Status Finish(Rollback& rollback, const std::optional<int64_t>& rows);
  absl::Status Fail(Rollback& rollback, const std::string& why);
  // Stores that a call goes out now, and pins the time to it; false where the claim or the
  // reservation would not outlast it.
  absl::StatusOr<bool> MayCall(Rollback& rollback);
  absl::Status Store(const Rollback& rollback);
  absl::Status Write(const std::function<absl::Status(store::Transaction& tx)>& body);
  absl::Status Close(store::Transaction& tx, const Rollback& rollback);
  void LookAgain(absl::Duration after) { next_ = std::min(next_, world_.store.Now() + after); }

  const Runner::World& world_;
  const Options& options_;
  work::Claim& claim_;
  Backfill backfill_;
  std::vector<Rollback> rollbacks_;
  bool finished_ = false;
  Instant next_ = Instant::kMax;
};

absl::Status RollbackPass::Write(const std::function<absl::Status(store::Transaction& tx)>& body) {
  absl::Status status = world_.store.Write([&](store::Transaction& tx) {
    absl::Status held = work::CheckClaim(tx, claim_);
    return held.ok() ? body(tx) : held;
  });
  if (status.ok()) world_.changes.Ring();
  return status;
}

absl::Status RollbackPass::Store(const Rollback& rollback) {
  return Write([&](store::Transaction& tx) { return PutRollback(tx, rollback); });
}

// A look comes twice a second, and all partitions may share one reservation: it is renewed
// where much of its time is over.
absl::Status RollbackPass::Keep(store::Transaction& tx, const Rollback& rollback) {
  auto lease = lease::Get(tx, rollback.reservation_id);
  const bool fresh = lease.ok() && lease->state == lease::State::kActive &&
                     lease->token == rollback.token &&
                     lease->deadline - tx.now() > options_.lease_ttl * 2 / 3;
  if (fresh) return absl::OkStatus();
  return lease::Renew(tx, rollback.reservation_id, rollback.token, options_.lease_ttl,
                      Own(rollback), options_.lease_limits)
      .status();
}

// Keeps the reservation, or takes another where it has ended.
absl::Status RollbackPass::Begin() {
  return Write([&](store::Transaction& tx) -> absl::Status {
    auto backfill = ReadBackfill(tx, claim_.key);
    auto rollbacks = ReadRollbacks(tx, claim_.key);
    if (!backfill.ok() || !rollbacks.ok()) {
      return backfill.ok() ? rollbacks.status() : backfill.status();
    }
    backfill_ = *std::move(backfill);
    rollbacks_ = *std::move(rollbacks);
    rollbacks_.erase(std::remove_if(rollbacks_.begin(), rollbacks_.end(),
                                    [](const Rollback& one) { return IsOver(one.step); }),
                     rollbacks_.end());
    finished_ = rollbacks_.empty();
    if (finished_) return work::Finish(tx, claim_);
    for (Rollback& rollback : rollbacks_) {
      absl::Status kept = Keep(tx, rollback);
      if (kept.ok()) continue;
      if (!MeansLeaseLost(kept)) return kept;
      // What was pinned to the lost one is let go only together with the new grant.
      absl::Status unpinned = lease::UnpinWork(tx, PinId(rollback));
      if (!unpinned.ok()) return unpinned;
      auto grant = ReserveForRollback(tx, backfill_, {rollback.partition}, options_, Own(rollback));
      if (!grant.ok()) return grant.status();
      rollback.reservation_id = grant->reservation.id;
      rollback.token = grant->reservation.token;
      if (absl::Status put = PutRollback(tx, rollback); !put.ok()) return put;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<bool> RollbackPass::MayCall(Rollback& rollback) {
  const MarkCall call{PinId(rollback),
                      absl::StrCat("backfills/", rollback.backfill_id, ", rollback"),
                      rollback.partition, rollback.reservation_id, rollback.token};
  return TakeMarkLeave(world_, options_, claim_, call, [&](store::Transaction& tx) {
    rollback.called = tx.now();
    return PutRollback(tx, rollback);
  });
}

absl::Status RollbackPass::Move(Rollback& rollback) {
  // 37 lists what was marked used only after the coordinator's next poll, or this.
  const auto load =
      world_.cluster.GetLoadStatus(backfill_.datasource, rollback.partition, /*refresh=*/true);
  const auto used = world_.cluster.ListUsedSegments(backfill_.datasource, {rollback.partition});
  if (!load.done() || !used.done()) {
    rollback.message = load.done() ? used.text() : load.text();
    LookAgain(options_.blocked_every);
    return Store(rollback);
  }
  const RollbackSight sight = SightOf(druid::Timeline::Of(used.value()), rollback);
  switch (rollback.step) {
    case RollbackStep::kRevive:
      return Revive(rollback, sight);
    case RollbackStep::kMark:
      return Mark(rollback, sight);
    default:
      return Settle(rollback, sight);
  }
}

absl::Status RollbackPass::Revive(Rollback& rollback, const RollbackSight& sight) {
  if (absl::Status status = CheckSight(sight, rollback); !status.ok()) {
    return Fail(rollback, std::string(status.message()));
  }
  if (sight.missing.empty()) {
    rollback.step = RollbackStep::kMark;
    rollback.message = "what comes back is used again";
    LookAgain(absl::ZeroDuration());
    return Store(rollback);
  }
  absl::Status there =
      CheckStillThere(world_.cluster, backfill_.datasource, rollback, sight.missing);
  if (ReasonOf(there) == "OLD_GENERATION_KILLED") {
    return Fail(rollback, std::string(there.message()));
  }
  auto may = MayCall(rollback);
  if (!may.ok()) return may.status();
  LookAgain(options_.look_every);
  for (const std::string& id : sight.missing) {
    if (!*may) return absl::OkStatus();
    // What came of it is read, not believed.
    const auto revived = world_.cluster.ReviveSegment(backfill_.datasource, id);
    if (!revived.done()) {
      rollback.message = revived.text();
      LookAgain(options_.blocked_every);
      return Store(rollback);
    }
    may = MayCall(rollback);
    if (!may.ok()) return may.status();
  }
  return absl::OkStatus();
}

absl::Status RollbackPass::Mark(Rollback& rollback, const RollbackSight& sight) {
  if (sight.going.empty()) {
    rollback.step = RollbackStep::kSettle;
    if (!rollback.hole) rollback.hole = world_.store.Now();  // somebody else marked them
    rollback.message = "what goes is unused";
    LookAgain(absl::ZeroDuration());
    return Store(rollback);
  }
  if (!rollback.hole) {
    if (absl::Status status = CheckSight(sight, rollback); !status.ok()) {
      return Fail(rollback, std::string(status.message()));
    }
  }
  if (!sight.missing.empty()) {  // somebody took them away again
    rollback.step = RollbackStep::kRevive;
    LookAgain(options_.look_every);
    return Store(rollback);
  }
  auto may = MayCall(rollback);
  if (!may.ok()) return may.status();
  LookAgain(options_.look_every);
  if (!*may) return absl::OkStatus();
  if (!rollback.hole) rollback.hole = world_.store.Now();
  if (absl::Status status = Store(rollback); !status.ok()) return status;
  const auto marked = world_.cluster.MarkUnused(backfill_.datasource, sight.going);
  if (marked.done()) return absl::OkStatus();
  rollback.message = marked.text();
  LookAgain(options_.blocked_every);
  return Store(rollback);
}

// The former generation must be what is visible, all of it loaded, and still so after the
// views have had time to settle.
absl::Status RollbackPass::Settle(Rollback& rollback, const RollbackSight& sight) {
  std::vector<std::string> visible = sight.visible, wanted = rollback.old_ids;
  std::sort(visible.begin(), visible.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  druid::ObserveRequest request;
  request.datasource = backfill_.datasource;
  request.interval = request.surroundings = rollback.partition;
  request.partitions = {rollback.partition};
  request.metrics = MetricsOf(backfill_.terms);
  request.refresh = false;
  const auto snapshot = druid::Observe(world_.cluster, request, world_.store.Now());
  const bool loaded = snapshot.done() && snapshot.value().load.unavailable_segments == 0;
  const Instant now = world_.store.Now();
  LookAgain(options_.look_every);
  if (visible != wanted || !loaded) {
    if (rollback.called && now - *rollback.called > options_.row_patience * 6 && loaded) {
      return Fail(rollback, absl::StrCat("what is visible now is ", sight.versions,
                                         ", and not the former generation"));
    }
    rollback.gap.reset();
    rollback.message = "Druid loads what came back";
    return Store(rollback);
  }
  if (!rollback.gap) {
    rollback.gap = rollback.old_ids.empty() ? absl::ZeroDuration() : now - *rollback.hole;
    return Store(rollback);
  }
  if (now - (*rollback.hole + *rollback.gap) < options_.settle_time) return absl::OkStatus();
  std::optional<int64_t> rows;
  if (!snapshot.value().rows.empty()) {
    const druid::RowSums& sums = snapshot.value().rows.front();
    const auto counted = sums.sums.find(backfill_.terms.count_metric);
    rows = counted == sums.sums.end() ? sums.rows : static_cast<int64_t>(counted->second);
  }
  return Finish(rollback, rows);
}

absl::Status RollbackPass::Close(store::Transaction& tx, const Rollback& rollback) {
  absl::Status status = PutRollback(tx, rollback);
  if (status.ok()) status = lease::UnpinWork(tx, PinId(rollback));
  if (!status.ok()) return status;
  status = lease::ReleaseIntervals(tx, rollback.reservation_id, rollback.token,
                                   {rollback.partition}, Own(rollback))
               .status();
  if (!status.ok() && !MeansLeaseLost(status)) return status;
  return absl::OkStatus();
}

absl::Status RollbackPass::Fail(Rollback& rollback, const std::string& why) {
  rollback.step = RollbackStep::kFailed;
  rollback.message = why;
  return Write([&](store::Transaction& tx) -> absl::Status {
    absl::Status status = Close(tx, rollback);
    // What was proven is gone by our own doing, whatever has come in its place.
    if (status.ok() && rollback.hole) status = RecordRollbackFailed(tx, rollback);
    auto backfill = ReadBackfill(tx, backfill_.id);
    if (!status.ok() || !backfill.ok()) return status.ok() ? backfill.status() : status;
    backfill->notices.push_back(
        absl::StrCat("ROLLBACK_FAILED: ", rollback.partition.ToString(), ": ", why));
    status = UpdateBackfill(tx, *backfill);
    return status.ok() ? UpdatePhase(tx, *backfill).status() : status;
  });
}

absl::Status RollbackPass::Finish(Rollback& rollback, const std::optional<int64_t>& rows) {
  rollback.step = RollbackStep::kDone;
  rollback.message = rollback.old_ids.empty()
                         ? "nothing is there, as before the backfill"
                         : absl::StrCat("the former generation is visible again",
                                        rows ? absl::StrCat(", with ", *rows, " rows") : "");
  return Write([&](store::Transaction& tx) -> absl::Status {
    absl::Status status = Close(tx, rollback);
    if (status.ok()) status = RecordRolledBack(tx, rollback, rows);
    auto backfill = ReadBackfill(tx, backfill_.id);
    if (!status.ok() || !backfill.ok()) return status.ok() ? backfill.status() : status;
    return UpdatePhase(tx, *backfill).status();
  });
}

absl::Status RollbackPass::Run() {
  absl::Status status = Begin();
  if (!status.ok() || finished_) return status;
  for (Rollback& rollback : rollbacks_) {
    status = Move(rollback);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<lease::Grant> ReserveForRollback(store::Transaction& tx, const Backfill& backfill,
                                                const std::vector<Interval>& intervals,
                                                const Options& options,
                                                const audit::Caller& caller) {
  lease::ReserveRequest request;
  request.datasource = backfill.datasource;
  request.intervals = intervals;
  request.ttl = options.lease_ttl;
  request.holder = LeaseHolder(backfill);
  request.purpose = absl::StrCat("rollback of ", backfill.id);
  lease::Limits limits = options.lease_limits;
  limits.intervals_per_call = std::max<int64_t>(limits.intervals_per_call, kMaxPartitions);
  return lease::Reserve(tx, request, caller, limits);
}

absl::StatusOr<work::Outcome> RollbackWorker::Step(work::Claim& claim) {
  RollbackPass pass(world_, options_, claim);
  if (absl::Status status = pass.Run(); !status.ok()) return status;
  if (pass.finished()) return work::Outcome::Settled();
  return work::Outcome::NextDue(std::min(pass.next(), world_.store.Now() + options_.blocked_every));
}

}  // namespace interlock::backfill
