#include "lib/backfill/state.h"

#include <array>

namespace interlock::backfill {
namespace {

constexpr std::array<absl::string_view, 14> kNames = {
    "PENDING",     "RESERVED", "SUBMITTING",   "RUNNING", "PROVING", "DONE",      "EMPTY",
    "NOT_APPLIED", "SUSPECT",  "UNDETERMINED", "FAILED",  "SKIPPED", "CANCELLED", "ROLLED_BACK"};

Step FromPending(Seen seen) {
  switch (seen) {
    case Seen::kLeased:
      return {State::kReserved, Action::kLook};
    case Seen::kHeld:
      return {State::kSkipped, Action::kNone};
    case Seen::kBlocked:
      return {State::kPending, Action::kWait};
    case Seen::kCancel:
      return {State::kCancelled, Action::kNone};
    default:
      return {State::kPending, Action::kNone};
  }
}

Step FromReserved(Seen seen) {
  switch (seen) {
    case Seen::kLeaseLost:
      return {State::kPending, Action::kReserve};
    case Seen::kAlreadyDone:
      return {State::kSkipped, Action::kNone};
    case Seen::kBlocked:
    case Seen::kCantTell:  // what is in the way could not be read
      return {State::kReserved, Action::kWait};
    case Seen::kClear:
      return {State::kSubmitting, Action::kPost};
    case Seen::kOverdue:  // in its way for longer than it may
      return {State::kFailed, Action::kNone};
    case Seen::kCancel:
      return {State::kCancelled, Action::kNone};
    default:
      return {State::kReserved, Action::kNone};
  }
}

// Whatever happens to the lease or the wish to cancel: a POST that may be on its way is
// settled first, by its own id.
Step FromSubmitting(Seen seen) {
  switch (seen) {
    case Seen::kPosted:
      return {State::kRunning, Action::kPoll};
    case Seen::kPostUnknown:
    case Seen::kQueueFull:
    case Seen::kBlocked:
      return {State::kSubmitting, Action::kWait};
    case Seen::kTaken:
      return {State::kNotApplied, Action::kSettle};
    case Seen::kRefused:
      return {State::kFailed, Action::kSettle};
    case Seen::kLeaseLost:
    case Seen::kCancel:
      return {State::kSubmitting, Action::kOccupy};
    case Seen::kOccupied:
      return {State::kNotApplied, Action::kSettle};
    case Seen::kOverdue:  // too long ago to post again: only the effect can tell
      return {State::kUndetermined, Action::kProve};
    case Seen::kAbandon:
      return {State::kNotApplied, Action::kSettle};
    default:
      return {State::kSubmitting, Action::kNone};
  }
}

Step FromRunning(Seen seen) {
  switch (seen) {
    case Seen::kLives:
    case Seen::kCantTell:
      return {State::kRunning, Action::kWait};
    case Seen::kOverdue:
    case Seen::kCancel:
      return {State::kRunning, Action::kShutdown};
    case Seen::kEnded:
    case Seen::kGone:
      return {State::kProving, Action::kProve};
    case Seen::kAbandon:
      return {State::kNotApplied, Action::kSettle};
    default:
      return {State::kRunning, Action::kNone};
  }
}

Step FromProving(State state, Seen seen) {
  switch (seen) {
    case Seen::kProven:
      return {State::kDone, Action::kSettle};
    case Seen::kProvenEmpty:
      return {State::kEmpty, Action::kSettle};
    case Seen::kNoEffect:
      return {State::kNotApplied, Action::kSettle};
    case Seen::kWrong:
      return {State::kSuspect, Action::kSettle};
    case Seen::kCantTell:
      return {State::kUndetermined, Action::kWait};
    case Seen::kNotYet:
      return {State::kProving, Action::kWait};
    case Seen::kAccept:
      return {state == State::kUndetermined ? State::kDone : state,
              state == State::kUndetermined ? Action::kSettle : Action::kNone};
    case Seen::kAbandon:
      return {State::kNotApplied, Action::kSettle};
    default:
      return {state, Action::kNone};
  }
}

Step FromNotApplied(Seen seen) {
  switch (seen) {
    case Seen::kAttemptsLeft:
    case Seen::kRetry:
      return {State::kReserved, Action::kLook};
    case Seen::kNoAttemptsLeft:
      return {State::kFailed, Action::kNone};
    case Seen::kLeaseLost:
      return {State::kPending, Action::kReserve};
    case Seen::kCancel:
      return {State::kCancelled, Action::kNone};
    default:
      return {State::kNotApplied, Action::kNone};
  }
}

Step FromOver(State state, Seen seen) {
  if (seen == Seen::kRetry) return {State::kPending, Action::kReserve};
  if (seen == Seen::kAccept && state == State::kSuspect) return {State::kDone, Action::kNone};
  if (seen == Seen::kTotalsDiffer && (state == State::kDone || state == State::kEmpty)) {
    return {State::kSuspect, Action::kNone};
  }
  return {state, Action::kNone};
}

}  // namespace

Step Next(State state, Seen seen) {
  switch (state) {
    case State::kPending:
      return FromPending(seen);
    case State::kReserved:
      return FromReserved(seen);
    case State::kSubmitting:
      return FromSubmitting(seen);
    case State::kRunning:
      return FromRunning(seen);
    case State::kProving:
    case State::kUndetermined:
      return FromProving(state, seen);
    case State::kNotApplied:
      return FromNotApplied(seen);
    case State::kSuspect:
    case State::kFailed:
    case State::kSkipped:
    case State::kCancelled:
    case State::kRolledBack:
    case State::kDone:
    case State::kEmpty:
      break;
  }
  return FromOver(state, seen);
}

bool IsGood(State state) {
  return state == State::kDone || state == State::kEmpty || state == State::kSkipped;
}

bool IsFinal(State state) {
  return IsGood(state) || state == State::kSuspect || state == State::kFailed ||
         state == State::kCancelled || state == State::kRolledBack;
}

bool IsOpen(State state) {
  return state == State::kSubmitting || state == State::kRunning || state == State::kProving ||
         state == State::kUndetermined;
}

absl::string_view NameOf(State state) { return kNames[static_cast<size_t>(state)]; }

State StateOf(absl::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<State>(i);
  }
  return State::kUndetermined;
}

}  // namespace interlock::backfill
