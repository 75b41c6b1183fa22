// The life of a drop, as one pure function: Next(state, what was seen) → (state, what to
// do). No clock, no store, no Druid in here; worker.h looks, asks and does.
//
//   PLANNED → RESERVED → MARKING → MARKED → AWAITING_APPROVAL → CHECKING ⇄ KILLING
//                                    ↑ held            │            ↓
//                                    └─────────────────┘        VERIFYING → KILLED
//   any state with marked segments and no kill under way → RESTORING → RESTORED | PARTLY_RESTORED
//
// What it guarantees (P5, P8):
// - A kill is posted from CHECKING only, on a look that found the window over by every
//   clock, the reservation ours, and nothing that speaks against it. Every piece of a
//   kill goes through CHECKING again.
// - A look that did not get all its answers moves nothing.
// - An effect counts once it was read back, and read again after the settling time.
// - Who cancels, or ends the reservation by force (an admin), ends what is done under it: the
//   kill task in work is shut down and followed to its end (one whose post was not answered
//   never begins: its id is taken), what it left is read from the rows, and the time is not
//   taken again.
// - Each state either moves by itself, or by a person's CancelDrop or RestoreDrop.
//
// Threads: functions without state.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace interlock::drop {

enum class State {
  kPlanned,           // stored; holds no time yet
  kReserved,          // holds its interval; nothing is marked
  kMarking,           // ids are being marked unused, or that is being read back
  kMarked,            // proven; the window runs, or something holds the kill (`hold`)
  kAwaitingApproval,  // a person has to agree: to the kill, to clocks that disagree, or
                      // (unmarked) to begin
  kChecking,          // holds its interval again; looks whether the kill may go on
  kKilling,           // a kill task is, or may be, under way
  kVerifying,         // all pieces ended; rows and files are looked for
  kKilled,            // the rows are gone by id, read twice
  kRestoring,         // ids are being marked used, or that is being read back
  kRestored,          // the same segments are visible as before, with the same sums
  kPartlyRestored,    // the same for what a kill had left
  kCancelled,         // nothing more happens; what is marked stays marked
  kKillNotBounded,    // this Druid cannot bound a kill: nothing was killed
  kFailed,            // ended with a reason and what is left
};

// "AWAITING_APPROVAL": as stored and as the API spells it.
const char* Name(State state);
std::optional<State> StateNamed(absl::string_view name);
inline std::ostream& operator<<(std::ostream& out, State state) { return out << Name(state); }

// Nothing moves it but RestoreDrop.
bool Ended(State state);
// It holds a reservation while it is in this state.
bool Holds(State state);

// How far the window is, by the store's clock, our own and Druid's together.
enum class Window {
  kRuns,
  kOver,
  kUnclear,  // the clocks disagree: nothing is killed
};

// How the kill task of the piece in work stands.
enum class Piece {
  kNone,      // no piece in work
  kUnposted,  // intent stored; no answer yet that says Druid has it
  kLives,     // Druid has it and it is not terminal
  kOverdue,   // it waits for locks or a slot, or runs, for longer than it may
  kEnded,     // terminal; the rows say what it did
  kTaken,     // its id belongs to a task that is not ours
  kRefused,   // Druid will not take it
};

// How the proof of a restore stands.
enum class Proof {
  kUnread,   // not loaded yet, or not readable now
  kSame,     // the visible set and the sums are as before the mark
  kDiffers,  // they are not
  kOverdue,  // not readable for longer than we wait; the ids are proven all the same
};

// What a step has seen. Fields that its state does not ask about are left alone.
struct Observation {
  // From the store.
  bool leased = false;         // the reservation is ours now
  bool lease_refused = false;  // asked for in this very step, and another holds the time
  bool cancel = false;         // CancelDrop was called, or an admin ended the reservation
  bool forced = false;         // the latter
  bool asks_first = false;     // beyond a cap of the policy that made it, and nobody agreed yet
  bool never_marked = false;   // AWAITING_APPROVAL from before the mark
  bool needs_approval = false;
  bool approved = false;
  bool settled = false;      // this look came the settling time after the last call
  bool exhausted = false;    // the same thing failed as often as it may
  bool open_intent = false;  // a call may still be under way
  Window window = Window::kRuns;

  // From Druid.
  bool known = false;           // every answer came and made sense
  int used = 0;                 // ids of the manifest that read as used
  int marked = 0;               // that read as unused, by our mark
  int gone = 0;                 // whose row is gone
  bool undone = false;          // what was marked used again is unused anew, for too long by now
  bool strangers = false;       // used ids over the manifest's time that are not on it
  bool speaks_against = false;  // anything that forbids a kill (check.h says what)
  bool too_soon = false;        // after the last kill task that was sent, or that failed
  bool kill_failed = false;     // the last kill task that was sent
  bool kill_bounded = false;    // kills can be bounded on this Druid
  Piece piece = Piece::kNone;
  bool shutdown_asked = false;  // of that piece's task, a short while ago
  Proof proof = Proof::kUnread;
};

enum class Action {
  kNone,          // until it is due, or somebody asks
  kLook,          // look again soon
  kReserve,       // take the interval, in the same transaction
  kMark,          // mark the next batch unused
  kPostKill,      // post the piece's task (the same id as often as it takes)
  kOccupyKill,    // post a task that does nothing under its id, so that it never begins
  kShutdownKill,  // the task waits or runs too long, or the drop was cancelled
  kRevive,        // mark the next batch used
};
const char* Name(Action action);
inline std::ostream& operator<<(std::ostream& out, Action action) { return out << Name(action); }

struct Move {
  State state = State::kPlanned;
  Action action = Action::kNone;
  // Why it is held or failed: an UPPER_SNAKE reason, "" when all goes its way. For holds
  // of a check the worker puts the check's own reason in its place.
  std::string reason;

  bool operator==(const Move& other) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Move& move) {
  return out << Name(move.state) << " + " << Name(move.action) << " " << move.reason;
}

Move Next(State state, const Observation& seen);

// Reasons that Next gives.
inline constexpr char kHeld[] = "HELD";
inline constexpr char kForced[] = "FORCED";
inline constexpr char kCapReached[] = "CAP_REACHED";
inline constexpr char kApprovalRequired[] = "APPROVAL_REQUIRED";
inline constexpr char kChangedSincePlan[] = "CHANGED_SINCE_PLAN";
inline constexpr char kMarkRefused[] = "MARK_REFUSED";
inline constexpr char kForeignDrop[] = "FOREIGN_DROP";
inline constexpr char kClocksDisagree[] = "CLOCKS_DISAGREE";
inline constexpr char kCheckFailed[] = "CHECK_FAILED";
inline constexpr char kKillIsNotBounded[] = "KILL_NOT_BOUNDED";
inline constexpr char kKillFailed[] = "KILL_FAILED";
inline constexpr char kKillRefused[] = "KILL_REFUSED";
inline constexpr char kTaskIdTaken[] = "TASK_ID_TAKEN";
inline constexpr char kCancelledHalfWay[] = "CANCELLED_HALF_WAY";
inline constexpr char kNewerData[] = "NEWER_DATA";
inline constexpr char kRestoreRefused[] = "RESTORE_REFUSED";
inline constexpr char kRestoreUndone[] = "RESTORE_UNDONE";
inline constexpr char kRestoreDiffers[] = "RESTORE_DIFFERS";
inline constexpr char kRowsNotProven[] = "ROWS_NOT_PROVEN";
// Of KILLED, which the worker gives: rows are gone, and some files are not.
inline constexpr char kFilesLeft[] = "FILES_LEFT";

}  // namespace interlock::drop
