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

HandoverStep Stay(const Handover& handover, HandoverAct act = HandoverAct::kNone) {
  return {handover.state, act, handover.reason};
}

// It is never resumed over an attempt that may still write.
HandoverStep Leave(const Handover& handover, const HandoverSight& sight, const char* reason) {
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
  return {HandoverState::kDraining,
          sight.supervisor_suspended ? HandoverAct::kNone : HandoverAct::kSuspend, ""};
}

HandoverStep Draining(const Handover& handover, const HandoverSight& sight, Instant now) {
  if (!sight.wanted) return Leave(handover, sight, "");
  if (handover.resume_by && now >= *handover.resume_by) {
    return Leave(handover, sight, "PAUSE_OVER");
  }
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
  if (!sight.wanted) return Leave(handover, sight, "");
  if (!sight.inside_open && !sight.attempt_open) return Leave(handover, sight, "");
  if (handover.resume_by && now >= *handover.resume_by) {
    HandoverStep step = Leave(handover, sight, "PAUSE_OVER");
    if (sight.attempt_open) step.act = HandoverAct::kShutDown;
    return step;
  }
  if (!sight.known) return Stay(handover);
  if (!sight.supervisor_there) return Leave(handover, sight, "SUPERVISOR_GONE");
  if (!sight.supervisor_suspended) return Leave(handover, sight, "RESUMED_BY_OTHERS");
  return Stay(handover);
}

HandoverStep Resuming(const Handover& handover, const HandoverSight& sight) {
  if (sight.attempt_open || !sight.known) return Stay(handover);
  const bool as_it_was =
      !sight.supervisor_there || handover.was_suspended || !sight.supervisor_suspended;
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
      return Resuming(handover, sight);
    case HandoverState::kOver:
      break;
  }
  return {HandoverState::kOver, HandoverAct::kNone, handover.reason};
}

bool MayRunInTail(const Handover& handover, Instant now, absl::Duration call_deadline) {
  return handover.state == HandoverState::kSuspended && handover.resume_by &&
         handover.reason.empty() && now + call_deadline < *handover.resume_by;
}

}  // namespace interlock::backfill
