// How a unit moves: Next(state, what was seen) → (state, what to do). Pure; the runner
// around it looks, calls this, stores the state and does the action.
//
// A unit is all-or-nothing (Druid publishes a task's segments in one step), so its
// partitions stand where it stands until they are proven one by one.
#pragma once

#include "absl/strings/string_view.h"

namespace interlock::backfill {

enum class State {
  kPending,       // not begun, or put back
  kReserved,      // its time is leased
  kSubmitting,    // the intent is stored; the task may or may not be in Druid
  kRunning,       // the task is in Druid
  kProving,       // the task is over; its effect is being read
  kDone,          // proven: one version, one copy wherever rows can be compared
  kEmpty,         // proven: nothing there, as expected
  kNotApplied,    // proven: the attempt had no effect
  kSuspect,       // the effect is there and looks wrong: for a person
  kUndetermined,  // the effect can't be told; looked at again
  kFailed,        // no attempt is left, or Druid refuses the task
  kSkipped,       // somebody else holds it, or it was done before
  kCancelled,     // given up, and proven to have had no effect
  kRolledBack,    // the generation before it is visible again
};

enum class Seen {
  kLeased,          // a reservation for it was granted
  kHeld,            // others hold it, and they are to be skipped
  kLeaseLost,       // its reservation has ended
  kAlreadyDone,     // what is live is what an earlier run of the same work proved
  kBlocked,         // a foreign lock or task, or a limit, is in the way
  kClear,           // nothing is; what is there before was read
  kPosted,          // Druid took the task, or has it already with our nonce
  kTaken,           // the id belongs to a task that is not ours
  kOccupied,        // the id belongs to our own noop: the task will never come
  kPostUnknown,     // the reply was lost, or says nothing
  kQueueFull,       // not now
  kRefused,         // Druid will never take it
  kLives,           // the task waits or runs
  kOverdue,         // it waits (for a stream's lock, too) or runs for longer than it may
  kEnded,           // SUCCESS or FAILED, which only says when to look
  kGone,            // Druid has forgotten the task
  kProven,          // every partition is as it should be
  kProvenEmpty,     // … and has no rows, as expected
  kNoEffect,        // nothing new, twice looked
  kWrong,           // our effect is there and looks wrong
  kCantTell,        // it can't be told whose, or what, is there
  kNotYet,          // on its way: loading, or a view that lags
  kAttemptsLeft,    // another attempt may be made
  kNoAttemptsLeft,  // none
  kCancel,          // somebody asked to give it up
  kAccept,          // a person takes it as it is
  kAbandon,         // a person declares its attempt over
  kTotalsDiffer,    // all of the backfill together is not what is expected
  kRetry,           // somebody asked to run it again
};

enum class Action {
  kNone,
  kReserve,   // take a lease
  kLook,      // read what is there and what is in the way
  kPost,      // store the intent if it is not; post the task under its pinned id
  kOccupy,    // post a noop under the id, so that a late POST finds it taken
  kPoll,      // ask for the task's status
  kShutdown,  // ask Druid to end the task
  kProve,     // read the effect
  kWait,      // look again later
  kSettle,    // the attempt is over: unpin it; nothing more is asked of Druid
};

struct Step {
  State state;
  Action action;

  bool operator==(const Step& other) const = default;
};

// What does not concern a state changes nothing: {state, kNone}.
Step Next(State state, Seen seen);

// Nothing more happens by itself.
bool IsFinal(State state);
// Final, and well.
bool IsGood(State state);
// Its attempt may still write: pinned, and part of the limits.
bool IsOpen(State state);

absl::string_view NameOf(State state);
State StateOf(absl::string_view name);

}  // namespace interlock::backfill
