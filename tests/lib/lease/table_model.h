// The lease table as a person would describe it: reservations are sets of hours, and
// every question is answered by looking at all of them. The real table must agree.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
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

struct ModelWaiter {
  std::string datasource;
  Mode mode = Mode::kReplace;
  HourSet asked;
  Instant until;
  Instant alive_until;
};

class TableModel {
 public:
  // By id.
  std::map<std::string, ModelReservation> reservations;
  // By datasource and place.
  std::map<std::pair<std::string, int64_t>, ModelWaiter> line;
  // First hour that a stream may still write, by datasource.
  std::map<std::string, int> tails;
  absl::Duration lock_delay;

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

  // The hours of one that has expired and may not be given to anybody yet.
  HourSet Delayed(const ModelReservation& r, Instant now) const {
    const bool delayed =
        r.ended == State::kActive && r.deadline <= now && now < r.deadline + lock_delay;
    return delayed ? r.held : HourSet();
  }

  // What stands in the way of a request, by the reason that it would be refused for.
  struct Taken {
    HourSet tail, held, delayed, waited_for;

    HourSet All() const {
      HourSet all = tail;
      for (const HourSet* part : {&held, &delayed, &waited_for}) {
        all.insert(part->begin(), part->end());
      }
      return all;
    }
    std::string Reason() const {
      if (!tail.empty()) return "TAIL";
      if (!held.empty()) return "HELD";
      return !delayed.empty() ? "LOCK_DELAY" : "BEHIND_WAITER";
    }
  };
  Taken InTheWay(const std::string& datasource, Mode mode, const HourSet& asked, int64_t place,
                 Instant now) const {
    const auto both = [&asked](const HourSet& hours, HourSet& into) {
      for (const int hour : hours) {
        if (asked.count(hour) > 0) into.insert(hour);
      }
    };
    Taken taken;
    for (const auto& [id, r] : reservations) {
      if (r.datasource != datasource || (mode == Mode::kAppend && r.mode == Mode::kAppend))
        continue;
      both(Blocked(r, now), taken.held);
      both(Delayed(r, now), taken.delayed);
    }
    for (const auto& [key, waiter] : line) {
      if (key.first != datasource || key.second >= place) continue;
      if (mode == Mode::kAppend && waiter.mode == Mode::kAppend) continue;
      if (now < waiter.alive_until && now < waiter.until) both(waiter.asked, taken.waited_for);
    }
    const auto tail = tails.find(datasource);
    if (mode == Mode::kReplace && tail != tails.end()) {
      for (const int hour : asked) {
        if (hour >= tail->second) taken.tail.insert(hour);
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
