// The lease table as a person would describe it: reservations are sets of hours, and
// every question is answered by looking at all of them. The real table must agree.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/lease/reservation.h"

namespace interlock::lease {

using HourSet = std::set<int>;

struct ModelReservation {
  std::string datasource;
  std::string holder;
  std::string request_id;
  std::string body;  // whatever makes two requests the same
  Mode mode = Mode::kReplace;
  int64_t token = 0;
  HourSet granted;
  HourSet held;  // less what was given back
  Instant deadline;
  State ended = State::kActive;  // how it was ended by a call, if it was
  std::map<std::string, HourSet> pins;
};

class TableModel {
 public:
  // By id.
  std::map<std::string, ModelReservation> reservations;

  bool Active(const ModelReservation& r, Instant now) const {
    return r.ended == State::kActive && now < r.deadline;
  }

  State StateOf(const ModelReservation& r, Instant now) const {
    if (Active(r, now)) return State::kActive;
    if (!r.pins.empty()) return State::kOrphaned;
    return r.ended == State::kActive ? State::kExpired : r.ended;
  }

  // The hours that nobody else may have.
  HourSet Blocked(const ModelReservation& r, Instant now) const {
    if (Active(r, now)) return r.held;
    HourSet pinned;
    for (const auto& [work, hours] : r.pins) pinned.insert(hours.begin(), hours.end());
    return pinned;
  }

  // Those of `asked` that a new reservation of this mode can't have.
  HourSet Taken(const std::string& datasource, Mode mode, const HourSet& asked, Instant now) const {
    HourSet taken;
    for (const auto& [id, r] : reservations) {
      if (r.datasource != datasource) continue;
      if (mode == Mode::kAppend && r.mode == Mode::kAppend) continue;
      for (const int hour : Blocked(r, now)) {
        if (asked.count(hour) > 0) taken.insert(hour);
      }
    }
    return taken;
  }

  // The reason that a call under an ended reservation is refused with.
  std::string WhyEnded(const ModelReservation& r, Instant now) const {
    for (const auto& [id, other] : reservations) {
      if (other.datasource != r.datasource || other.token <= r.token) continue;
      if (other.mode == Mode::kAppend && r.mode == Mode::kAppend) continue;
      for (const int hour : Blocked(other, now)) {
        if (r.granted.count(hour) > 0) return "SUPERSEDED";
      }
    }
    return std::string(NameOf(r.ended == State::kActive ? State::kExpired : r.ended));
  }
};

}  // namespace interlock::lease
