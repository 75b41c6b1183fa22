#include "lib/backfill/retire_worker.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/mark_leave.h"
#include "lib/backfill/retire.h"
#include "lib/backfill/rows.h"
#include "lib/druid/timeline.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {
namespace {

// Partitions whose time is held at once.
constexpr size_t kAtOnce = 50;
// While others hold the time, or the new generation is not loaded.
constexpr absl::Duration kLater = absl::Minutes(1);

audit::Caller Own(const std::string& backfill_id) {
  return {"interlock", "", absl::StrCat("retires what ", backfill_id, " replaced")};
}

std::string PinId(const Retirement& one) {
  return absl::StrCat("retire/", one.backfill_id, "/", one.partition.start().millis());
}

// What Druid shows of the ids now.
struct RetireSight {
  std::vector<std::string> hidden;  // used, and read by no query
  std::vector<std::string> seen;    // used, and read
};

RetireSight SightOf(const druid::Timeline& timeline, const Retirement& one) {
  std::set<std::string> hidden;
  for (const druid::Segment& segment : timeline.Hidden()) hidden.insert(segment.id);
  RetireSight sight;
  for (const druid::Segment& segment : timeline.segments()) {
    if (std::find(one.ids.begin(), one.ids.end(), segment.id) == one.ids.end()) continue;
    (hidden.count(segment.id) != 0 ? sight.hidden : sight.seen).push_back(segment.id);
  }
  return sight;
}

// One pass over one backfill.
class RetirePass {
 public:
  RetirePass(const Runner::World& world, const Options& options, work::Claim& claim)
      : world_(world), options_(options), claim_(claim) {}

  absl::Status Run();
  bool finished() const { return finished_; }
  Instant next() const { return next_; }

 private:
  absl::Status Begin();
  absl::Status Plan(store::Transaction& tx);
  absl::Status GiveUp(store::Transaction& tx);
  absl::Status Release(store::Transaction& tx, const Retirement& one);
  absl::Status TakeTime(store::Transaction& tx, Retirement& one);
  absl::Status Move(Retirement& one);
  absl::Status Mark(Retirement& one, const std::vector<std::string>& ids);
  absl::Status Settle(Retirement& one);
  absl::Status Close(Retirement& one, RetireStep step, const std::string& message);
  absl::StatusOr<bool> MayCall(Retirement& one);
  absl::Status Store(const Retirement& one, const std::string& message, absl::Duration again);
  absl::Status Write(const std::function<absl::Status(store::Transaction& tx)>& body);
  void LookAgain(absl::Duration after) { next_ = std::min(next_, world_.store.Now() + after); }

  const Runner::World& world_;
  const Options& options_;
  work::Claim& claim_;
  Backfill backfill_;
  std::vector<Retirement> open_;
  bool finished_ = false;
  Instant next_ = Instant::kMax;
};

absl::Status RetirePass::Write(const std::function<absl::Status(store::Transaction& tx)>& body) {
  absl::Status status = world_.store.Write([&](store::Transaction& tx) {
    absl::Status held = work::CheckClaim(tx, claim_);
    return held.ok() ? body(tx) : held;
  });
  if (status.ok()) world_.changes.Ring();
  return status;
}

absl::Status RetirePass::Store(const Retirement& one, const std::string& message,
                               absl::Duration again) {
  LookAgain(again);
  Retirement stored = one;
  stored.message = message;
  return Write([&](store::Transaction& tx) { return PutRetirement(tx, stored); });
}

absl::Status RetirePass::Plan(store::Transaction& tx) {
  auto known = ReadRetirements(tx, claim_.key);
  if (!known.ok()) return known.status();
  if (known->empty()) {
    known = PlanRetirements(tx, backfill_);
    if (!known.ok()) return known.status();
    for (const Retirement& one : *known) {
      if (absl::Status put = PutRetirement(tx, one); !put.ok()) return put;
    }
  }
  for (Retirement& one : *known) {
    if (!IsOver(one.step) && open_.size() < kAtOnce) open_.push_back(std::move(one));
  }
  return absl::OkStatus();
}

absl::Status RetirePass::Release(store::Transaction& tx, const Retirement& one) {
  absl::Status status = lease::UnpinWork(tx, PinId(one));
  if (!status.ok() || one.reservation_id.empty()) return status;
  status = lease::ReleaseIntervals(tx, one.reservation_id, one.token, {one.partition},
                                   Own(one.backfill_id))
               .status();
  return MeansLeaseLost(status) ? absl::OkStatus() : status;
}

// The backfill runs again, or was brought back: what is open is left, once no mark of ours can
// be under way any more.
absl::Status RetirePass::GiveUp(store::Transaction& tx) {
  auto known = ReadRetirements(tx, claim_.key);
  if (!known.ok()) return known.status();
  for (Retirement& one : *known) {
    if (IsOver(one.step)) continue;
    if (one.called && tx.now() < *one.called + options_.call_deadline * 2) {
      next_ = std::min(next_, *one.called + options_.call_deadline * 2);
      continue;
    }
    one.step = RetireStep::kLeft;
    one.message = "the backfill is no longer DONE";
    absl::Status status = PutRetirement(tx, one);
    if (status.ok()) status = Release(tx, one);
    if (!status.ok()) return status;
  }
  finished_ = next_ == Instant::kMax;
  return finished_ ? work::Finish(tx, claim_) : absl::OkStatus();
}

// Keeps its reservation, or takes one: where others hold the time it has none.
absl::Status RetirePass::TakeTime(store::Transaction& tx, Retirement& one) {
  if (!one.reservation_id.empty()) {
    auto kept = lease::Renew(tx, one.reservation_id, one.token, options_.lease_ttl,
                             Own(one.backfill_id), options_.lease_limits);
    if (kept.ok() || !MeansLeaseLost(kept.status())) return kept.status();
    absl::Status unpinned = lease::UnpinWork(tx, PinId(one));
    if (!unpinned.ok()) return unpinned;
  }
  lease::ReserveRequest request;
  request.datasource = backfill_.datasource;
  request.intervals = {one.partition};
  request.ttl = options_.lease_ttl;
  request.holder = LeaseHolder(backfill_);
  request.purpose = absl::StrCat("retires what ", backfill_.id, " replaced");
  auto grant = lease::Reserve(tx, request, Own(one.backfill_id), options_.lease_limits);
  one.reservation_id = grant.ok() ? grant->reservation.id : "";
  one.token = grant.ok() ? grant->reservation.token : 0;
  if (!grant.ok()) one.message = std::string(grant.status().message());
  return PutRetirement(tx, one);
}

absl::Status RetirePass::Begin() {
  return Write([&](store::Transaction& tx) -> absl::Status {
    open_.clear();
    finished_ = false;
    next_ = Instant::kMax;
    auto backfill = ReadBackfill(tx, claim_.key);
    if (!backfill.ok()) return backfill.status();
    backfill_ = *std::move(backfill);
    if (backfill_.phase == Phase::kRollingBack) {
      next_ = tx.now() + kLater;
      return absl::OkStatus();
    }
    if (backfill_.phase != Phase::kDone || !backfill_.ended) return GiveUp(tx);
    const Instant from = *backfill_.ended + backfill_.rollback_window;
    if (tx.now() <= from) {
      next_ = from + absl::Milliseconds(1);
      return absl::OkStatus();
    }
    if (absl::Status planned = Plan(tx); !planned.ok()) return planned;
    finished_ = open_.empty();
    if (finished_) return work::Finish(tx, claim_);
    for (Retirement& one : open_) {
      if (absl::Status taken = TakeTime(tx, one); !taken.ok()) return taken;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<bool> RetirePass::MayCall(Retirement& one) {
  const MarkCall call{PinId(one), absl::StrCat("backfills/", one.backfill_id, ", retirement"),
                      one.partition, one.reservation_id, one.token};
  return TakeMarkLeave(world_, options_, claim_, call, [&](store::Transaction& tx) {
    one.called = tx.now();
    one.clear.reset();
    return PutRetirement(tx, one);
  });
}

absl::Status RetirePass::Move(Retirement& one) {
  if (one.reservation_id.empty()) {
    LookAgain(kLater);
    return absl::OkStatus();
  }
  const auto load =
      world_.cluster.GetLoadStatus(backfill_.datasource, one.partition, /*refresh=*/true);
  const auto used = world_.cluster.ListUsedSegments(backfill_.datasource, {one.partition});
  if (!load.done() || !used.done()) {
    return Store(one, load.done() ? used.text() : load.text(), options_.blocked_every);
  }
  const RetireSight sight = SightOf(druid::Timeline::Of(used.value()), one);
  if (!sight.seen.empty()) {
    return Close(one, RetireStep::kLeft,
                 absl::StrCat(sight.seen.front(),
                              " is read by queries, or reaches beyond the partition: it is left "
                              "to Druid's duty"));
  }
  if (sight.hidden.empty()) return Settle(one);
  if (load.value().unavailable_segments > 0) {
    return Store(one, "what replaced it is not all loaded", kLater);
  }
  return Mark(one, sight.hidden);
}

absl::Status RetirePass::Mark(Retirement& one, const std::vector<std::string>& ids) {
  auto may = MayCall(one);
  if (!may.ok()) return may.status();
  LookAgain(options_.look_every);
  if (!*may) return absl::OkStatus();
  // What came of it is read, not believed.
  const auto marked = world_.cluster.MarkUnused(backfill_.datasource, ids);
  if (marked.done()) return absl::OkStatus();
  return Store(one, marked.text(), options_.blocked_every);
}

// None of them is used: by our mark, or by Druid's duty. Seen once more before it counts.
absl::Status RetirePass::Settle(Retirement& one) {
  const Instant now = world_.store.Now();
  if (!one.called) return Close(one, RetireStep::kDone, "Druid had marked it unused already");
  if (!one.clear) {
    one.clear = now;
    return Store(one, "none of it is used", options_.settle_time);
  }
  if (now - *one.clear < options_.settle_time) {
    LookAgain(options_.look_every);
    return absl::OkStatus();
  }
  return Close(one, RetireStep::kDone,
               absl::StrCat(one.ids.size(), " segments of the former generation are unused"));
}

absl::Status RetirePass::Close(Retirement& one, RetireStep step, const std::string& message) {
  one.step = step;
  one.message = message;
  LookAgain(absl::ZeroDuration());
  return Write([&](store::Transaction& tx) -> absl::Status {
    absl::Status status = PutRetirement(tx, one);
    if (status.ok()) status = Release(tx, one);
    if (status.ok() && step == RetireStep::kDone) status = RecordRetired(tx, one);
    if (!status.ok()) return status;
    audit::Event event;
    event.caller = Own(one.backfill_id);
    event.method = "backfill.RETIRED";
    event.datasource = backfill_.datasource;
    event.subject = one.backfill_id;
    event.result = step == RetireStep::kDone ? "OK" : "LEFT";
    event.after = audit::JsonObject()
                      .Text("partition", one.partition.ToString())
                      .Text("message", message)
                      .ToString();
    event.resource_type = "backfill";
    return audit::Record(tx, event);
  });
}

absl::Status RetirePass::Run() {
  absl::Status status = Begin();
  for (Retirement& one : open_) {
    if (!status.ok()) break;
    status = Move(one);
  }
  return status;
}

}  // namespace

absl::StatusOr<work::Outcome> RetireWorker::Step(work::Claim& claim) {
  RetirePass pass(world_, options_, claim);
  if (absl::Status status = pass.Run(); !status.ok()) return status;
  if (pass.finished()) return work::Outcome::Settled();
  return work::Outcome::NextDue(pass.next() == Instant::kMax ? world_.store.Now() + kLater
                                                             : pass.next());
}

}  // namespace interlock::backfill
