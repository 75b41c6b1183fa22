#include "lib/lease/reservation.h"

namespace interlock::lease {

absl::string_view NameOf(Mode mode) { return mode == Mode::kReplace ? "REPLACE" : "APPEND"; }

absl::string_view NameOf(State state) {
  switch (state) {
    case State::kActive:
      return "ACTIVE";
    case State::kExpired:
      return "EXPIRED";
    case State::kReleased:
      return "RELEASED";
    case State::kForced:
      return "FORCED";
    case State::kOrphaned:
      return "ORPHANED";
    case State::kWaiting:
      return "WAITING";
  }
  return "";
}

Mode ModeOf(absl::string_view name) { return name == "APPEND" ? Mode::kAppend : Mode::kReplace; }

State StateOf(absl::string_view name) {
  for (const State state :
       {State::kExpired, State::kReleased, State::kForced, State::kOrphaned, State::kWaiting}) {
    if (NameOf(state) == name) return state;
  }
  return State::kActive;
}

}  // namespace interlock::lease
