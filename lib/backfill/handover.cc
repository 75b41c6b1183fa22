#include "lib/backfill/handover.h"

#include <utility>

namespace interlock::backfill {
namespace {

struct StateName {
  HandoverState state;
  absl::string_view name;
};
constexpr StateName kNames[] = {
    {HandoverState::kBefore, "BEFORE"},       {HandoverState::kDraining, "DRAINING"},
    {HandoverState::kSuspended, "SUSPENDED"}, {HandoverState::kResuming, "RESUMING"},
    {HandoverState::kOver, "OVER"},
};

constexpr char kPauseOver[] = "PAUSE_OVER";
constexpr char kSupervisorGone[] = "SUPERVISOR_GONE";
constexpr char kResumedByOthers[] = "RESUMED_BY_OTHERS";

bool PauseIsOver(const Handover& handover, Instant now) {
  return handover.resume_by && now >= *handover.resume_by;
}

HandoverStep Stay(const Handover& handover, HandoverAct act = HandoverAct::kNone) {
  return {handover.state, act, handover.reason};
}

// They are never resumed over an attempt that may still write.
HandoverStep Leave(const Handover& handover, const HandoverSight& sight,
                   const std::string& reason) {
  if (sight.attempt_open) return {handover.state, HandoverAct::kNone, reason};
  return {HandoverState::kResuming, HandoverAct::kNone, reason};
}

// Those of the handover's supervisors of which `is` holds.
template <typename Predicate>
std::vector<std::string> Those(const Handover& handover, const HandoverSight& sight, Predicate is) {
  std::vector<std::string> whom;
  for (const Supervised& one : handover.supervisors) {
    const auto seen = sight.supervisors.find(one.id);
    if (is(one, seen != sight.supervisors.end() ? seen->second : SupervisorSight())) {
      whom.push_back(one.id);
    }
  }
  return whom;
}

std::vector<std::string> Gone(const Handover& handover, const HandoverSight& sight) {
  return Those(handover, sight,
               [](const Supervised&, const SupervisorSight& seen) { return !seen.there; });
}

std::vector<std::string> Running(const Handover& handover, const HandoverSight& sight) {
  return Those(handover, sight,
               [](const Supervised&, const SupervisorSight& seen) { return !seen.suspended; });
}

HandoverStep About(std::vector<std::string> whom, HandoverStep step) {
  step.whom = std::move(whom);
  return step;
}

HandoverStep Before(const Handover& handover, const HandoverSight& sight) {
  if (!sight.wanted || (!sight.outside_open && !sight.inside_open)) {
    return {HandoverState::kOver, HandoverAct::kNone, ""};
  }
  if (!sight.known || sight.outside_open) return Stay(handover);
  if (handover.supervisors.empty()) {
    return {HandoverState::kOver, HandoverAct::kNone, "NO_SUPERVISOR"};
  }
  // All of them at once or none: two handovers that each have one would wait for each other.
  auto busy = Those(handover, sight, [](const Supervised&, const SupervisorSight& seen) {
    return seen.another_has_it;
  });
  if (!busy.empty()) {
    return About(std::move(busy), {HandoverState::kBefore, HandoverAct::kNone, "HANDOVER_BUSY"});
  }
  if (!sight.time_free) return {HandoverState::kBefore, HandoverAct::kNone, "HELD"};
  auto running = Running(handover, sight);
  const HandoverAct act = running.empty() ? HandoverAct::kNone : HandoverAct::kSuspend;
  return About(std::move(running), {HandoverState::kDraining, act, ""});
}

HandoverStep Draining(const Handover& handover, const HandoverSight& sight, Instant now) {
  if (!sight.wanted || !sight.inside_open) return Leave(handover, sight, "");
  if (PauseIsOver(handover, now)) return Leave(handover, sight, kPauseOver);
  if (!sight.known) return Stay(handover);
  if (auto gone = Gone(handover, sight); !gone.empty()) {
    return About(std::move(gone), Leave(handover, sight, kSupervisorGone));
  }
  // Asked for, and seen, and undone: by somebody else. Not seen yet: the call was lost.
  auto undone = Those(handover, sight, [](const Supervised& one, const SupervisorSight& seen) {
    return one.seen_suspended && !seen.suspended;
  });
  if (!undone.empty()) {
    return About(std::move(undone), Leave(handover, sight, kResumedByOthers));
  }
  if (auto running = Running(handover, sight); !running.empty()) {
    return About(std::move(running), Stay(handover, HandoverAct::kSuspend));
  }
  return sight.tasks_gone ? HandoverStep{HandoverState::kSuspended} : Stay(handover);
}

HandoverStep Suspended(const Handover& handover, const HandoverSight& sight, Instant now) {
  if (!sight.inside_open && !sight.attempt_open) return Leave(handover, sight, "");
  // Once it has to end it does, whatever is seen later.
  const bool ends = !handover.reason.empty();
  if (ends || PauseIsOver(handover, now)) {
    HandoverStep step = Leave(handover, sight, ends ? handover.reason : kPauseOver);
    if (sight.attempt_open) step.act = HandoverAct::kShutDown;
    return step;
  }
  if (!sight.wanted) return Leave(handover, sight, "");
  if (!sight.known) return Stay(handover);
  if (auto gone = Gone(handover, sight); !gone.empty()) {
    return About(std::move(gone), Leave(handover, sight, kSupervisorGone));
  }
  if (auto running = Running(handover, sight); !running.empty()) {
    return About(std::move(running), Leave(handover, sight, kResumedByOthers));
  }
  return Stay(handover);
}

// Between the resume and the stream's next task; without one that long it is over as well.
constexpr absl::Duration kNextTask = absl::Seconds(15);

// As a person had it: gone, suspended before, or running, with its next task.
bool IsBack(const Supervised& one, const SupervisorSight& seen, Instant now) {
  if (!seen.call_settled) return false;
  if (!seen.there || (seen.suspended && one.was_suspended)) return true;
  if (seen.suspended) return false;
  return seen.task_seen || !one.asked || now >= *one.asked + kNextTask;
}

HandoverStep Resuming(const Handover& handover, const HandoverSight& sight, Instant now) {
  if (sight.attempt_open || !sight.known) return Stay(handover);
  const auto away = Those(handover, sight, [&](const Supervised& one, const SupervisorSight& seen) {
    return !IsBack(one, seen, now);
  });
  if (away.empty()) return {HandoverState::kOver, HandoverAct::kNone, handover.reason};
  auto whom = Those(handover, sight, [](const Supervised& one, const SupervisorSight& seen) {
    return seen.there && seen.suspended && !one.was_suspended && seen.call_settled;
  });
  if (whom.empty()) return Stay(handover);
  return About(std::move(whom), Stay(handover, HandoverAct::kResume));
}

}  // namespace

absl::string_view NameOf(HandoverState state) {
  for (const StateName& known : kNames) {
    if (known.state == state) return known.name;
  }
  return "OVER";
}

HandoverState HandoverStateOf(absl::string_view name) {
  for (const StateName& known : kNames) {
    if (known.name == name) return known.state;
  }
  return HandoverState::kOver;
}

const Supervised* Handover::Find(absl::string_view supervisor_id) const {
  for (const Supervised& one : supervisors) {
    if (one.id == supervisor_id) return &one;
  }
  return nullptr;
}

Supervised* Handover::Find(absl::string_view supervisor_id) {
  for (Supervised& one : supervisors) {
    if (one.id == supervisor_id) return &one;
  }
  return nullptr;
}

HandoverStep NextHandover(const Handover& handover, const HandoverSight& sight, Instant now) {
  switch (handover.state) {
    case HandoverState::kBefore:
      return Before(handover, sight);
    case HandoverState::kDraining:
      return Draining(handover, sight, now);
    case HandoverState::kSuspended:
      return Suspended(handover, sight, now);
    case HandoverState::kResuming:
      return Resuming(handover, sight, now);
    case HandoverState::kOver:
      break;
  }
  return {HandoverState::kOver, HandoverAct::kNone, handover.reason};
}

bool HasStreams(const Handover& handover) {
  return handover.state == HandoverState::kSuspended && handover.reason.empty();
}

bool MustEnd(const Handover& handover, Instant now) {
  if (handover.state == HandoverState::kResuming) return true;
  return handover.state == HandoverState::kSuspended &&
         (!handover.reason.empty() || PauseIsOver(handover, now));
}

bool MayRunInTail(const Handover& handover, Instant now, absl::Duration call_deadline) {
  return HasStreams(handover) && handover.resume_by && now + call_deadline < *handover.resume_by;
}

}  // namespace interlock::backfill
