// Backfills::Submit: one transaction that reserves and stores all of it, or nothing.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/handover_worker.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/tails_at_submit.h"
#include "lib/time/interval_set.h"
#include "lib/work/steps.h"

namespace interlock::backfill {
namespace {

Backfill NewBackfill(const CheckedRequest& checked, const audit::Caller& caller) {
  const BackfillRequest& request = checked.request;
  const Spec& spec = *checked.check.spec;
  Backfill backfill;
  backfill.datasource = spec.datasource;
  backfill.intervals = spec.intervals;
  backfill.granularity_json = spec.granularity_json;
  backfill.spec_json = spec.json;
  backfill.digest = checked.digest;
  backfill.job = checked.job;
  backfill.job_version = checked.job_version;
  backfill.rollback_window = request.rollback_window;
  backfill.sources = request.sources;
  backfill.label = spec.label;
  backfill.requested_by = caller.identity;
  backfill.holder = request.holder;
  backfill.request_id = caller.request_id;
  backfill.fingerprint = checked.fingerprint;
  backfill.purpose = request.purpose;
  backfill.request_reason = caller.reason;
  backfill.labels = request.labels;
  backfill.reprocess = request.reprocess;
  backfill.max_parallel = request.max_parallel;
  backfill.max_attempts = request.max_attempts;
  backfill.newest_first = request.newest_first;
  backfill.skip_held = request.skip_held;
  backfill.level = request.level;
  backfill.waiting_deadline = request.waiting_deadline;
  backfill.run_deadline = request.run_deadline;
  backfill.terms = checked.terms;
  backfill.expected_rows = request.expected_rows;
  backfill.druid_source = spec.druid_source;
  backfill.why_cut = checked.cut.why;
  backfill.finer = checked.cut.finer;
  backfill.reservation_id = request.reservation_id;
  backfill.token = request.token;
  for (const SpecFault& warning : checked.check.warnings) {
    backfill.notices.push_back(
        absl::StrCat("SPEC: ", warning.pointer, " ", warning.found, "; ", warning.would_do));
  }
  if (spec.widened) {
    backfill.notices.push_back("WIDENED: the intervals were widened to whole partitions");
  }
  return backfill;
}

// A unit split into what can be run and what others hold.
struct Split {
  Unit kept, skipped;
};

Split SplitByLease(const Unit& unit, const std::vector<Interval>& granted) {
  Split split;
  for (const Interval& partition : unit.partitions) {
    Unit& part = Covers(granted, {partition}) ? split.kept : split.skipped;
    part.partitions.push_back(partition);
  }
  for (Unit* part : {&split.kept, &split.skipped}) part->intervals = Condense(part->partitions);
  return split;
}

// Why a unit is left alone, or waits.
struct Why {
  std::string reason, message;
  std::vector<Obstacle> blockers;
};

Why WhoHolds(const std::vector<lease::Held>& skipped, const Unit& unit) {
  Why why{"HELD", "held by another", {}};
  for (const lease::Held& held : skipped) {
    if (!held.interval.Overlaps(unit.hull())) continue;
    if (why.blockers.empty()) {
      if (!held.reason.empty()) why.reason = held.reason;
      why.message = !held.message.empty()
                        ? held.message
                        : absl::StrCat("held by ", held.holder, " for ", held.purpose);
    }
    why.blockers.push_back(ObstacleOf(held));
  }
  return why;
}

Why WaitsForStream(const Unit& unit) {
  const std::string message = "a stream may still write here";
  return {"TAIL", message, {TailObstacle("TAIL", message, unit.hull())}};
}

class UnitStorer {
 public:
  UnitStorer(store::Transaction& tx, const Backfill& backfill) : tx_(tx), backfill_(backfill) {}

  absl::Status Store(const Unit& unit, State state, Why why = {}) {
    if (unit.partitions.empty()) return absl::OkStatus();
    StoredUnit stored;
    stored.backfill_id = backfill_.id;
    stored.number = next_++;
    stored.unit = unit;
    stored.state = state;
    stored.reason = std::move(why.reason);
    stored.message = std::move(why.message);
    stored.blockers = std::move(why.blockers);
    stored.due = tx_.now();
    if (state == State::kReserved) {
      stored.reservation_id = backfill_.reservation_id;
      stored.token = backfill_.token;
    }
    return InsertUnit(tx_, backfill_.datasource, stored);
  }

 private:
  store::Transaction& tx_;
  const Backfill& backfill_;
  int64_t next_ = 0;
};

// `later`: what waits for a stream.
absl::Status StoreUnits(store::Transaction& tx, const Backfill& backfill, const Cut& cut,
                        const lease::Grant& grant, const std::vector<Interval>& later) {
  UnitStorer storer(tx, backfill);
  for (const Unit& unit : cut.units) {
    const Split split = SplitByLease(unit, grant.reservation.intervals);
    const Split rest = SplitByLease(split.skipped, later);
    absl::Status status = storer.Store(split.kept, State::kReserved);
    if (status.ok() && !rest.kept.partitions.empty()) {
      status = storer.Store(rest.kept, State::kPending, WaitsForStream(rest.kept));
    }
    if (status.ok() && !rest.skipped.partitions.empty()) {
      status = storer.Store(rest.skipped, State::kSkipped, WhoHolds(grant.skipped, rest.skipped));
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// A lease that is lent was granted against the tails already.
absl::StatusOr<Takeable> TakeableOf(store::Transaction& tx, const CheckedRequest& checked) {
  const Spec& spec = *checked.check.spec;
  Takeable all;
  all.now = spec.intervals;
  if (!checked.request.reservation_id.empty()) return all;
  return TakeableNow(tx, {spec.datasource, spec.intervals, spec.granularity, spec.reads_itself(),
                          checked.request.tails});
}

// The same request after its backfill is over: what `reprocess` says runs again. For all of it
// once only: the same again asks for a reply that was lost, and what is done is not done twice.
absl::Status RunAgain(store::Transaction& tx, Backfill& backfill, Reprocess reprocess) {
  const bool idle = IsOver(backfill.phase) || backfill.phase == Phase::kNeedsAttention;
  if (reprocess == Reprocess::kNone || !idle) return absl::OkStatus();
  std::vector<State> states = {State::kFailed, State::kCancelled, State::kSuspect};
  if (reprocess == Reprocess::kAll && backfill.reprocess != Reprocess::kAll) {
    states.insert(states.end(), {State::kDone, State::kEmpty, State::kSkipped, State::kRolledBack});
  }
  auto units = ReadUnits(tx, backfill.id, states, Instant::kMax, false, kMaxPartitions);
  if (!units.ok()) return units.status();
  for (StoredUnit& unit : *units) {
    absl::Status status = PutBack(tx, unit);
    if (!status.ok()) return status;
  }
  backfill.reprocess = reprocess;
  backfill.pause = backfill.cancel = backfill.totals_judged = false;
  backfill.deadline.reset();  // it was the first run's
  absl::Status status = SetWishes(tx, backfill);
  if (status.ok()) status = BeginHandover(tx, backfill);
  return status.ok() ? UpdatePhase(tx, backfill).status() : status;
}

bool ExpectsTheSame(const Backfill& there, const CheckedRequest& checked) {
  return there.expected_rows == checked.request.expected_rows &&
         ToJson(there.terms) == ToJson(checked.terms) && there.level == checked.request.level;
}

// How the work is done is what was asked for first.
std::vector<std::string> GoesOnWithout(const Backfill& there, const BackfillRequest& request) {
  std::string options;
  const auto compare = [&](const char* name, bool equal) {
    if (!equal) absl::StrAppend(&options, options.empty() ? "" : ", ", name);
  };
  compare("max_parallel", there.max_parallel == request.max_parallel);
  compare("max_attempts", there.max_attempts == request.max_attempts);
  compare("newest_first", there.newest_first == request.newest_first);
  compare("skip_held", there.skip_held == request.skip_held);
  compare("waiting_deadline", there.waiting_deadline == request.waiting_deadline);
  compare("run_deadline", there.run_deadline == request.run_deadline);
  compare("rollback_window", there.rollback_window == request.rollback_window);
  compare("deadline", request.deadline <= absl::ZeroDuration());
  if (options.empty()) return {};
  return {absl::StrCat("ATTACHED_AS_IT_IS: ", there.id,
                       " was there already, and goes on with its own ", options)};
}

// Its request id has lived its time after the backfill's end, and names another by now.
absl::Status LetGoOfRequestId(store::Transaction& tx, Backfill& backfill) {
  backfill.notices.push_back(absl::StrCat("REQUEST_ID_EXPIRED: it was made by the request ",
                                          backfill.request_id, ", an id that was used again at ",
                                          tx.now().ToString()));
  absl::Status status =
      tx.Execute("UPDATE backfill SET request_id = '' WHERE id = :id", {backfill.id}).status();
  return status.ok() ? UpdateBackfill(tx, backfill) : status;
}

std::string Described(const Backfill& backfill) {
  return audit::JsonObject()
      .Text("state", NameOf(backfill.phase))
      .Text("intervals", IntervalsToText(backfill.intervals))
      .Text("digest", backfill.digest)
      .Text("reservation", backfill.reservation_id)
      .ToString();
}

}  // namespace

absl::StatusOr<Backfills::Submitted> Backfills::SubmitIn(store::Transaction& tx,
                                                         const CheckedRequest& checked,
                                                         const audit::Caller& caller) const {
  const BackfillRequest& request = checked.request;
  auto same = FindByRequest(tx, caller.identity, request.holder, caller.request_id);
  if (!same.ok()) return same.status();
  if (*same && (*same)->ended &&
      tx.now() - *(*same)->ended > options_.lease_limits.request_id_kept) {
    absl::Status status = LetGoOfRequestId(tx, **same);
    if (!status.ok()) return status;
    same->reset();
  }
  if (*same) {
    Submitted submitted{**same, true, {}};
    if (submitted.backfill.fingerprint != checked.fingerprint) {
      return RequestIdReused(caller.request_id, submitted.backfill.id);
    }
    absl::Status status = RunAgain(tx, submitted.backfill, request.reprocess);
    if (!status.ok()) return status;
    return submitted;
  }
  if (request.reprocess != Reprocess::kAll && request.reservation_id.empty()) {
    auto there = FindSameWork(tx, checked.check.spec->datasource, checked.digest,
                              IntervalsToText(checked.check.spec->intervals));
    if (!there.ok()) return there.status();
    const bool alike = *there && ExpectsTheSame(**there, checked);
    // One that waits for a person holds no other request up.
    const bool waits = *there && (*there)->phase == Phase::kNeedsAttention && !alike;
    if (*there && !waits && (!(*there)->ended || request.reprocess == Reprocess::kFailed)) {
      if (!alike) return OtherExpectation((*there)->id, NameOf((*there)->phase));
      Submitted submitted{**there, true, GoesOnWithout(**there, request)};
      absl::Status status = RunAgain(tx, submitted.backfill, request.reprocess);
      if (!status.ok()) return status;
      return submitted;
    }
  }
  Submitted submitted{NewBackfill(checked, caller), false, {}};
  Backfill& backfill = submitted.backfill;
  if (request.deadline > absl::ZeroDuration()) backfill.deadline = tx.now() + request.deadline;
  auto takeable = TakeableOf(tx, checked);
  if (!takeable.ok()) return takeable.status();
  backfill.notices.insert(backfill.notices.end(), takeable->notices.begin(),
                          takeable->notices.end());
  absl::Status status = InsertBackfill(tx, backfill);
  if (status.ok()) status = PutTailTerms(tx, backfill.id, request.tails);
  if (!status.ok()) return status;
  lease::Grant grant;
  if (!request.reservation_id.empty()) {
    status = BorrowTime(tx, backfill);
    grant.reservation.intervals = backfill.intervals;
  } else if (!takeable->now.empty()) {
    auto taken = TakeTime(tx, backfill, takeable->now, options_, caller);
    if (!taken.ok()) return taken.status();
    grant = *std::move(taken);
  }
  if (status.ok()) status = StoreUnits(tx, backfill, checked.cut, grant, takeable->later);
  if (status.ok()) status = UpdateBackfill(tx, backfill);
  if (status.ok()) status = BeginHandover(tx, backfill);
  if (!status.ok()) return status;
  return submitted;
}

absl::Status Backfills::CheckAgainstPlan(const CheckedRequest& checked,
                                         const audit::Caller& caller) const {
  const BackfillRequest& request = checked.request;
  if (request.plan_revision.empty() && request.expect_generation.empty()) return absl::OkStatus();
  // A request that is sent again was decided when it came first: its own doing has moved
  // the world.
  bool again = false;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto same = FindByRequest(tx, caller.identity, request.holder, caller.request_id);
    again = same.ok() && same->has_value();
    return same.status();
  });
  if (!status.ok() || again) return status;
  auto plan = PlanOf(checked, options_.lease_limits, store_, cluster_);
  return plan.ok() ? CheckPlanned(request, *plan) : plan.status();
}

absl::StatusOr<Backfills::Submitted> Backfills::Submit(const BackfillRequest& request,
                                                       const audit::Caller& caller) {
  if (absl::Status status = CheckCaller(caller); !status.ok()) return status;
  absl::StatusOr<CheckedRequest> checked = Checked(request, options_, store_, cluster_);
  if (!checked.ok()) return checked.status();
  if (!options_.manage) return ObserveOnly();
  if (absl::Status status = CheckAgainstPlan(*checked, caller); !status.ok()) return status;
  Submitted submitted;
  absl::Status status = store_.Write([&](store::Transaction& tx) {
    auto done = SubmitIn(tx, *checked, caller);
    if (!done.ok()) return done.status();
    submitted = *std::move(done);
    const Backfill& backfill = submitted.backfill;
    absl::Status stored = work::Schedule(tx, kWorkKind, backfill.id, tx.now());
    if (!stored.ok()) return stored;
    return audit::Record(tx, {caller, "SubmitBackfill", backfill.datasource, backfill.id,
                              submitted.attached ? "ATTACHED" : "OK", "", Described(backfill)});
  });
  if (!status.ok()) return status;
  changes_.Ring();
  if (wake_) wake_();
  return submitted;
}

}  // namespace interlock::backfill
