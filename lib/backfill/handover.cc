#include "lib/backfill/handover.h"

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

bool PauseIsOver(const Handover& handover, Instant now) {
  return handover.resume_by && now >= *handover.resume_by;
}

HandoverStep Stay(const Handover& handover, HandoverAct act = HandoverAct::kNone) {
  return {handover.state, act, handover.reason};
}

// It is never resumed over an attempt that may still write.
HandoverStep Leave(const Handover& handover, const HandoverSight& sight,
                   const std::string& reason) {
  if (sight.attempt_open) return {handover.state, HandoverAct::kNone, reason};
  return {HandoverState::kResuming, HandoverAct::kNone, reason};
}

HandoverStep Before(const Handover& handover, const HandoverSight& sight) {
  if (!sight.wanted || (!sight.outside_open && !sight.inside_open)) {
    return {HandoverState::kOver, HandoverAct::kNone, ""};
  }
  if (!sight.known || sight.outside_open) return Stay(handover);
  if (!sight.supervisor_there) return {HandoverState::kOver, HandoverAct::kNone, "NO_SUPERVISOR"};
  if (sight.another_has_it) return {HandoverState::kBefore, HandoverAct::kNone, "HANDOVER_BUSY"};
  if (!sight.time_free) return {HandoverState::kBefore, HandoverAct::kNone, "HELD"};
  return {HandoverState::kDraining,
          sight.supervisor_suspended ? HandoverAct::kNone : HandoverAct::kSuspend, ""};
}

HandoverStep Draining(const Handover& handover, const HandoverSight& sight, Instant now) {
  if (!sight.wanted || !sight.inside_open) return Leave(handover, sight, "");
  if (PauseIsOver(handover, now)) return Leave(handover, sight, kPauseOver);
  if (!sight.known) return Stay(handover);
  if (!sight.supervisor_there) return Leave(handover, sight, "SUPERVISOR_GONE");
  if (!sight.supervisor_suspended) {
    // Asked for, and seen, and undone: by somebody else. Not seen yet: the call was lost.
    if (handover.seen_suspended) return Leave(handover, sight, "RESUMED_BY_OTHERS");
    return Stay(handover, HandoverAct::kSuspend);
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
  if (!sight.supervisor_there) return Leave(handover, sight, "SUPERVISOR_GONE");
  if (!sight.supervisor_suspended) return Leave(handover, sight, "RESUMED_BY_OTHERS");
  return Stay(handover);
}

// Between the resume and the stream's next task; without one that long it is over as well.
constexpr absl::Duration kNextTask = absl::Seconds(15);

HandoverStep Resuming(const Handover& handover, const HandoverSight& sight, Instant now) {
  if (sight.attempt_open || !sight.known || !sight.call_settled) return Stay(handover);
  const bool as_it_was =
      !sight.supervisor_there || handover.was_suspended || !sight.supervisor_suspended;
  const bool runs = sight.supervisor_there && !sight.supervisor_suspended;
  if (runs && !sight.task_seen && handover.asked && now < *handover.asked + kNextTask) {
    return Stay(handover);
  }
  if (as_it_was) return {HandoverState::kOver, HandoverAct::kNone, handover.reason};
  return Stay(handover, HandoverAct::kResume);
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

bool HasStream(const Handover& handover) {
  return handover.state == HandoverState::kSuspended && handover.reason.empty();
}

bool MustEnd(const Handover& handover, Instant now) {
  if (handover.state == HandoverState::kResuming) return true;
  return handover.state == HandoverState::kSuspended &&
         (!handover.reason.empty() || PauseIsOver(handover, now));
}

bool MayRunInTail(const Handover& handover, Instant now, absl::Duration call_deadline) {
  return HasStream(handover) && handover.resume_by && now + call_deadline < *handover.resume_by;
}

}  // namespace interlock::backfill
