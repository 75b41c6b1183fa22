#include "lib/backfill/handover_worker.h"

#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/backfill/handover_rows.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/rows.h"
#include "lib/backfill/tail_terms.h"
#include "lib/guard/late_rows.h"
#include "lib/guard/rows.h"

namespace interlock::backfill {
namespace {

constexpr int64_t kAllUnits = std::numeric_limits<int32_t>::max();
// Between two looks, while a stream waits for it.
constexpr absl::Duration kLookEvery = absl::Seconds(1);
// … and while it does not: what lies outside of its tail runs.
constexpr absl::Duration kIdleLook = absl::Seconds(2);
bool Calls(HandoverAct act) { return act == HandoverAct::kSuspend || act == HandoverAct::kResume; }

std::string Named(const std::vector<std::string>& whom) {
  return absl::StrCat(whom.size() == 1 ? "supervisor " : "supervisors ", absl::StrJoin(whom, ", "));
}

std::string MessageOf(const HandoverStep& step, const Handover& handover) {
  const std::string& reason = step.reason;
  if (reason == "PAUSE_OVER") {
    return absl::StrCat("the longest pause of ", absl::FormatDuration(handover.max_pause),
                        " is over: what writes ", handover.datasource,
                        " resumes; what is left waits until its tail has passed, or for `backfills "
                        "pause` and `resume`, which begin another handover");
  }
  if (reason == "RESUMED_BY_OTHERS") {
    return absl::StrCat("somebody else resumed ", Named(step.whom),
                        " in the middle of the handover: what is left waits");
  }
  if (reason == "SUPERVISOR_GONE") {
    return absl::StrCat(Named(step.whom), " was terminated meanwhile");
  }
  if (reason == "HANDOVER_BUSY") {
    return absl::StrCat("another backfill's handover has ", Named(step.whom));
  }
  if (reason == "HELD") return "somebody else holds the time that the stream would be paused for";
  if (reason == "NO_SUPERVISOR") return "Druid has no supervisor of this datasource";
  return "";
}

// Units in the tail that are not under way lose their time: the stream has it again.
absl::Status PutBack(store::Transaction& tx, const Backfill& backfill, const Handover& handover) {
  auto units = ReadUnits(tx, backfill.id, {State::kReserved, State::kNotApplied}, Instant::kMax,
                         false, kAllUnits);
  if (!units.ok()) return units.status();
  for (StoredUnit& unit : *units) {
    unit.reason = handover.reason.empty() ? "TAIL" : handover.reason;
    unit.message = handover.message;
    unit.due = tx.now();
    absl::Status status;
    // The caller's own lease goes on; what it holds is only not run.
    if (!backfill.lent) {
      status = LeaveTime(tx, backfill, unit);
      unit.state = Next(unit.state, Seen::kLeaseLost).state;
      unit.reservation_id = "";
      unit.token = 0;
    }
    if (status.ok()) status = UpdateUnit(tx, unit);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// On the streams themselves, so that whoever looks at one knows who has it suspended.
absl::Status MarkStreams(store::Transaction& tx, const Handover& handover, bool ours) {
  for (const Supervised& one : handover.supervisors) {
    auto stream = guard::FindStream(tx, handover.datasource, one.id);
    if (!stream.ok()) return stream.status();
    if (!stream->has_value()) continue;
    guard::Stream& marked = **stream;
    marked.suspended_for = ours ? handover.backfill_id : "";
    // What was just read back: else the next look would take our own call for another's.
    if (!ours && marked.health) marked.health->suspended = one.was_suspended;
    absl::Status status = guard::PutStream(tx, marked);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RecordMove(store::Transaction& tx, HandoverState before, const Handover& after) {
  const auto json = [](HandoverState state) {
    return audit::JsonObject().Text("state", NameOf(state)).ToString();
  };
  return audit::Record(tx, {{"interlock", "", after.message.empty() ? "handover" : after.message},
                            "worker.handover",
                            after.datasource,
                            after.backfill_id,
                            after.reason.empty() ? "OK" : after.reason,
                            json(before),
                            json(after.state)});
}

}  // namespace

absl::Status BeginHandover(store::Transaction& tx, const Backfill& backfill) {
  auto terms = ReadTailTerms(tx, backfill.id);
  if (!terms.ok()) return terms.status();
  if (terms->policy != TailPolicy::kHandover) return absl::OkStatus();
  auto there = ReadHandover(tx, backfill.id);
  if (!there.ok()) return there.status();
  if (*there && (*there)->state != HandoverState::kOver) return absl::OkStatus();
  Handover handover;
  handover.backfill_id = backfill.id;
  handover.datasource = backfill.datasource;
  handover.max_pause = terms->max_pause;
  handover.ends_at_committed_offsets = terms->ends_at_committed_offsets;
  absl::Status status = PutHandover(tx, handover);
  return status.ok() ? work::Schedule(tx, kHandoverKind, backfill.id, tx.now()) : status;
}

absl::Status HandoverWorker::LookForLateRows() {
  return guard::LookForLateRows(world_.store, world_.cluster, options_.guard);
}

// What goes with a new state.
absl::Status HandoverWorker::Enter(store::Transaction& tx, const Standing& standing,
                                   Handover* after) {
  switch (after->state) {
    case HandoverState::kDraining:
      for (Supervised& one : after->supervisors) {
        one.was_suspended = standing.sight.supervisors.at(one.id).suspended;
      }
      after->suspended = tx.now();
      after->resume_by = tx.now() + after->max_pause;
      return MarkStreams(tx, *after, true);
    case HandoverState::kResuming:
      return PutBack(tx, standing.backfill, *after);
    case HandoverState::kOver:
      if (!after->suspended) return absl::OkStatus();
      after->resumed = tx.now();
      return MarkStreams(tx, *after, false);
    case HandoverState::kBefore:
    case HandoverState::kSuspended:
      break;
  }
  return absl::OkStatus();
}

absl::Status HandoverWorker::Store(store::Transaction& tx, const Standing& standing,
                                   const HandoverStep& step) {
  Handover after = standing.handover;
  const bool moved = after.state != step.state;
  const bool told = after.reason != step.reason;
  after.state = step.state;
  after.reason = step.reason;
  if (told) after.message = MessageOf(step, after);
  if (Calls(step.act)) {
    for (const std::string& id : step.whom) {
      Supervised* one = after.Find(id);
      one->asked = tx.now();
      one->unsettled = true;
    }
  }
  absl::Status status = moved ? Enter(tx, standing, &after) : absl::OkStatus();
  if (status.ok()) status = PutHandover(tx, after);
  if (!status.ok() || (!moved && !told && step.act != HandoverAct::kShutDown)) return status;
  if (moved || told) status = RecordMove(tx, standing.handover.state, after);
  return status.ok() ? work::Schedule(tx, kWorkKind, after.backfill_id, tx.now()) : status;
}

absl::Status HandoverWorker::Act(const Handover& before, const HandoverStep& step,
                                 work::Claim& claim) {
  if (!Calls(step.act)) return absl::OkStatus();
  for (const std::string& id : step.whom) {
    absl::Status status = Outlast(claim);
    if (status.ok()) status = CallOne(before, id, step.act, claim);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// No other worker acts before the call has ended.
absl::Status HandoverWorker::Outlast(work::Claim& claim) {
  if (claim.Remaining(world_.clock) > options_.call_deadline) return absl::OkStatus();
  return work::Extend(world_.store, world_.clock, claim, 3 * options_.call_deadline);
}

absl::Status HandoverWorker::CallOne(const Handover& before, const std::string& id, HandoverAct act,
                                     const work::Claim& claim) {
  if (claim.Remaining(world_.clock) <= options_.call_deadline) return absl::OkStatus();
  const bool suspends = act == HandoverAct::kSuspend;
  const auto answer = suspends ? world_.cluster.SuspendSupervisor(id)  //
                               : world_.cluster.ResumeSupervisor(id);
  if (answer.unknown()) return absl::OkStatus();  // it may arrive yet
  // Said by a supervisor that no call of ours can have reached: a person was faster.
  const Supervised* was = before.Find(id);
  const bool by_others = suspends && was != nullptr && !was->asked && answer.refused() &&
                         absl::StrContains(answer.text(), "already suspended");
  return world_.store.Write([&](store::Transaction& tx) -> absl::Status {
    absl::Status held = work::CheckClaim(tx, claim);
    auto now = ReadHandover(tx, before.backfill_id);
    if (!held.ok() || !now.ok()) return held.ok() ? now.status() : held;
    Supervised* one = *now ? (*now)->Find(id) : nullptr;
    if (one == nullptr) return absl::OkStatus();
    one->unsettled = false;
    one->was_suspended = one->was_suspended || by_others;
    return PutHandover(tx, **now);
  });
}

absl::StatusOr<work::Outcome> HandoverWorker::Step(work::Claim& claim) {
  Standing standing;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) {
    auto read = ReadStanding(tx, claim.key);
    if (read.ok()) standing = std::move(*read);
    return read.status();
  });
  if (!status.ok()) return status;
  if (standing.handover.state == HandoverState::kOver) return work::Outcome::Finished();
  const bool idle =
      standing.handover.state == HandoverState::kBefore && standing.sight.outside_open;
  DruidSight druid;
  if (!idle) LookAtDruid(standing, &druid);
  if (HasStreams(standing.handover) && !standing.sight.inside_open) {
    if (status = LookForLateRows(); !status.ok()) return status;
  }
  if (status = Outlast(claim); !status.ok()) return status;
  HandoverStep step;
  status = world_.store.Write([&](store::Transaction& tx) -> absl::Status {
    absl::Status held = work::CheckClaim(tx, claim);
    auto read = ReadStanding(tx, claim.key);
    if (!held.ok() || !read.ok()) return held.ok() ? read.status() : held;
    standing = *std::move(read);
    if (held = Join(tx, druid, &standing); !held.ok()) return held;
    step = NextHandover(standing.handover, standing.sight, tx.now());
    return Store(tx, standing, step);
  });
  if (status.ok()) status = Act(standing.handover, step, claim);
  if (!status.ok()) return status;
  if (step.state != standing.handover.state && callbacks_.wake) callbacks_.wake();
  if (step.state == HandoverState::kOver && standing.handover.suspended && callbacks_.on_resumed) {
    callbacks_.on_resumed(standing.handover);
  }
  world_.changes.Ring();
  if (step.state == HandoverState::kOver) return work::Outcome::Finished();
  return work::Outcome::NextDue(world_.store.Now() + (idle ? kIdleLook : kLookEvery));
}

}  // namespace interlock::backfill
