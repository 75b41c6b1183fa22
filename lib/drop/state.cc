#include "lib/drop/state.h"

#include <utility>

namespace interlock::drop {
namespace {

constexpr std::pair<State, const char*> kNames[] = {
    {State::kPlanned, "PLANNED"},
    {State::kReserved, "RESERVED"},
    {State::kMarking, "MARKING"},
    {State::kMarked, "MARKED"},
    {State::kAwaitingApproval, "AWAITING_APPROVAL"},
    {State::kChecking, "CHECKING"},
    {State::kKilling, "KILLING"},
    {State::kVerifying, "VERIFYING"},
    {State::kKilled, "KILLED"},
    {State::kRestoring, "RESTORING"},
    {State::kRestored, "RESTORED"},
    {State::kPartlyRestored, "PARTLY_RESTORED"},
    {State::kCancelled, "CANCELLED"},
    {State::kKillNotBounded, "KILL_NOT_BOUNDED"},
    {State::kFailed, "FAILED"},
};

Move Stay(State state, Action action, std::string reason = "") {
  return Move{state, action, std::move(reason)};
}

Move GivenUp(const Observation& seen) {
  return Stay(State::kCancelled, Action::kNone, seen.forced ? kForced : "");
}

// Once a kill has begun.
Move GivenUpOrHalfWay(const Observation& seen) {
  return seen.gone == 0 ? GivenUp(seen) : Stay(State::kFailed, Action::kNone, kCancelledHalfWay);
}

Move Planned(const Observation& seen) {
  if (seen.cancel) return GivenUp(seen);
  if (seen.asks_first) return Stay(State::kAwaitingApproval, Action::kNone, kCapReached);
  if (seen.leased) return Stay(State::kReserved, Action::kLook);
  if (seen.lease_refused) return Stay(State::kPlanned, Action::kNone, kHeld);
  return Stay(State::kPlanned, Action::kReserve);
}

// Nothing is marked yet, so whatever changed since the plan ends it without harm.
Move Reserved(const Observation& seen) {
  if (seen.cancel) return GivenUp(seen);
  if (!seen.leased) return Planned(seen);
  if (!seen.known) return Stay(State::kReserved, Action::kLook);
  if (seen.strangers) return Stay(State::kFailed, Action::kNone, kChangedSincePlan);
  return Stay(State::kMarking, Action::kMark);
}

Move Marking(const Observation& seen) {
  if (!seen.known || seen.open_intent) return Stay(State::kMarking, Action::kLook);
  if (seen.cancel) return GivenUp(seen);
  if (seen.exhausted) return Stay(State::kFailed, Action::kNone, kMarkRefused);
  if (!seen.leased) {
    return seen.lease_refused ? Stay(State::kMarking, Action::kNone, kHeld)
                              : Stay(State::kMarking, Action::kReserve);
  }
  if (seen.used > 0) return Stay(State::kMarking, Action::kMark);
  if (!seen.settled) return Stay(State::kMarking, Action::kLook);
  // Others had marked all of it before us: none of it is ours to kill or to restore.
  if (seen.marked == 0) return Stay(State::kFailed, Action::kNone, kForeignDrop);
  return Stay(State::kMarked, Action::kNone);
}

// Cancel and restore take these states straight away, in the caller's own transaction.
Move Marked(const Observation& seen) {
  if (seen.window == Window::kUnclear) {
    return Stay(State::kAwaitingApproval, Action::kNone, kClocksDisagree);
  }
  if (seen.window == Window::kRuns) return Stay(State::kMarked, Action::kNone);
  if (seen.needs_approval && !seen.approved) {
    return Stay(State::kAwaitingApproval, Action::kNone, kApprovalRequired);
  }
  if (seen.lease_refused) return Stay(State::kMarked, Action::kNone, kHeld);
  if (!seen.leased) return Stay(State::kChecking, Action::kReserve);
  return Stay(State::kChecking, Action::kLook);
}

Move LooksOn(const Observation& seen) {
  return Stay(State::kChecking, Action::kLook, seen.kill_failed && !seen.cancel ? kKillFailed : "");
}

Move Checking(const Observation& seen) {
  // What a task has killed that ended just now is read first.
  if (seen.cancel) return seen.known && seen.settled ? GivenUpOrHalfWay(seen) : LooksOn(seen);
  if (!seen.leased) return Marked(seen);
  if (!seen.known || seen.open_intent) return LooksOn(seen);
  // A window that was extended, or began anew, while we looked.
  if (seen.window != Window::kOver || (seen.needs_approval && !seen.approved)) return Marked(seen);
  if (seen.used == 0 && seen.marked == 0) return Stay(State::kVerifying, Action::kLook);
  if (!seen.kill_bounded) return Stay(State::kKillNotBounded, Action::kNone, kKillIsNotBounded);
  if (seen.speaks_against) return Stay(State::kMarked, Action::kNone, kCheckFailed);
  if (seen.exhausted) return Stay(State::kFailed, Action::kNone, kKillFailed);
  if (seen.too_soon) return LooksOn(seen);
  return Stay(State::kKilling, Action::kPostKill);
}

// A task that was posted is followed to its end, whatever became of the reservation;
// what it did is read from the rows, in CHECKING.
Move Killing(const Observation& seen) {
  switch (seen.piece) {
    case Piece::kNone:
    case Piece::kEnded:
      return LooksOn(seen);
    case Piece::kUnposted:
      if (seen.cancel) return Stay(State::kKilling, Action::kOccupyKill);
      if (seen.leased) return Stay(State::kKilling, Action::kPostKill);
      return seen.lease_refused ? Stay(State::kKilling, Action::kNone, kHeld)
                                : Stay(State::kKilling, Action::kReserve);
    case Piece::kLives:
      return Stay(State::kKilling,
                  seen.cancel && !seen.shutdown_asked ? Action::kShutdownKill : Action::kLook);
    case Piece::kOverdue:
      return Stay(State::kKilling, seen.shutdown_asked ? Action::kLook : Action::kShutdownKill);
    case Piece::kTaken:
      return Stay(State::kFailed, Action::kNone, kTaskIdTaken);
    case Piece::kRefused:
      return Stay(State::kFailed, Action::kNone, kKillRefused);
  }
  return Stay(State::kKilling, Action::kLook);
}

Move Verifying(const Observation& seen) {
  if (!seen.known) return Stay(State::kVerifying, Action::kLook);
  if (seen.used > 0 || seen.marked > 0) return Stay(State::kChecking, Action::kLook);
  if (!seen.settled) return Stay(State::kVerifying, Action::kLook);
  return Stay(State::kKilled, Action::kNone);
}

Move RestoredAs(const Observation& seen, const char* reason) {
  return Stay(seen.gone > 0 ? State::kPartlyRestored : State::kRestored, Action::kNone, reason);
}

Move Restoring(const Observation& seen) {
  if (!seen.known || seen.open_intent) return Stay(State::kRestoring, Action::kLook);
  if (seen.forced) return Stay(State::kFailed, Action::kNone, kForced);
  if (!seen.leased) {
    return seen.lease_refused ? Stay(State::kRestoring, Action::kNone, kHeld)
                              : Stay(State::kRestoring, Action::kReserve);
  }
  if (seen.strangers) return Stay(State::kFailed, Action::kNone, kNewerData);
  if (seen.exhausted) return Stay(State::kFailed, Action::kNone, kRestoreRefused);
  if (seen.undone && seen.settled) return Stay(State::kFailed, Action::kNone, kRestoreUndone);
  if (seen.marked > 0) return Stay(State::kRestoring, Action::kRevive);
  if (!seen.settled) return Stay(State::kRestoring, Action::kLook);
  switch (seen.proof) {
    case Proof::kUnread:
      return Stay(State::kRestoring, Action::kLook);
    case Proof::kSame:
      return RestoredAs(seen, "");
    case Proof::kDiffers:
      return Stay(State::kFailed, Action::kNone, kRestoreDiffers);
    case Proof::kOverdue:
      return RestoredAs(seen, kRowsNotProven);
  }
  return Stay(State::kRestoring, Action::kLook);
}

}  // namespace

const char* Name(State state) {
  for (const auto& [known, name] : kNames) {
    if (known == state) return name;
  }
  return "";
}

std::optional<State> StateNamed(absl::string_view name) {
  for (const auto& [state, known] : kNames) {
    if (name == known) return state;
  }
  return std::nullopt;
}

bool Ended(State state) {
  switch (state) {
    case State::kKilled:
    case State::kRestored:
    case State::kPartlyRestored:
    case State::kCancelled:
    case State::kKillNotBounded:
    case State::kFailed:
      return true;
    default:
      return false;
  }
}

bool Holds(State state) {
  switch (state) {
    case State::kReserved:
    case State::kMarking:
    case State::kChecking:
    case State::kKilling:
    case State::kVerifying:
    case State::kRestoring:
      return true;
    default:
      return false;
  }
}

const char* Name(Action action) {
  switch (action) {
    case Action::kNone:
      return "NONE";
    case Action::kLook:
      return "LOOK";
    case Action::kReserve:
      return "RESERVE";
    case Action::kMark:
      return "MARK";
    case Action::kPostKill:
      return "POST_KILL";
    case Action::kOccupyKill:
      return "OCCUPY_KILL";
    case Action::kShutdownKill:
      return "SHUTDOWN_KILL";
    case Action::kRevive:
      return "REVIVE";
  }
  return "";
}

Move Next(State state, const Observation& seen) {
  switch (state) {
    case State::kPlanned:
      return Planned(seen);
    case State::kReserved:
      return Reserved(seen);
    case State::kMarking:
      return Marking(seen);
    case State::kMarked:
      return Marked(seen);
    case State::kAwaitingApproval:
      return seen.never_marked ? Planned(seen) : Marked(seen);
    case State::kChecking:
      return Checking(seen);
    case State::kKilling:
      return Killing(seen);
    case State::kVerifying:
      return Verifying(seen);
    case State::kRestoring:
      return Restoring(seen);
    default:
      return Stay(state, Action::kNone);
  }
}

}  // namespace interlock::drop
