// Three clocks, judged together: the store's, our own wall clock and Druid's (the Date
// header of a reply). A window that ends early cannot be taken back, so a clock that
// jumped must never be able to end one: where they disagree, nothing is killed.
//
// Threads: functions without state.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "lib/drop/state.h"
#include "lib/time/instant.h"

namespace interlock::drop {

struct Readings {
  Instant store;
  Instant wall;
  // Whole seconds, rounded down; nothing while no reply carried it.
  std::optional<Instant> druid;

  bool operator==(const Readings& other) const = default;
};

// Why the readings cannot be trusted together, or "" when all three are there and no two
// are further apart than `max_skew` (Druid's may be a second more behind: it is rounded).
std::string Disagreement(const Readings& now, absl::Duration max_skew);

// Whether `length` has passed on each of the clocks since `marked`. kUnclear where they
// disagree now, or disagree about how long it has been: `why` says how.
Window JudgeWindow(const Readings& marked, absl::Duration length, const Readings& now,
                   absl::Duration max_skew, std::string* why);

// The same on an admin's word that the disagreement is known: each of the three still has
// to say that `length` has passed.
Window JudgeWindowByAll(const Readings& marked, absl::Duration length, const Readings& now);

// Whether data that ends at `end` is older than `floor` by the clock that is furthest
// behind.
bool OlderThan(Instant end, absl::Duration floor, const Readings& now);

}  // namespace interlock::drop
