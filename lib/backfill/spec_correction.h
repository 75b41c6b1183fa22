// A spec mended as far as each of its faults has one answer, and what a submit changes in a
// spec that it accepts.
//
// Threads: functions without state.
#pragma once

#include <string>
#include <vector>

#include "lib/backfill/spec.h"

namespace interlock::backfill {

// One place in a spec that was changed, or should be.
struct SpecChange {
  std::string pointer;
  std::string before;  // JSON; "" where nothing was there
  std::string after;   // JSON; "" where it was taken away
  std::string reason;

  bool operator==(const SpecChange& other) const = default;
};

struct SpecCorrection {
  std::string spec;  // "" where no fault has one answer
  std::vector<SpecChange> changes;
  std::vector<SpecFault> left;  // faults that a person must mend
};

// Nothing but `left` for a spec that is no JSON; nothing at all for one without faults. What
// stood in the place of a secret is not told.
SpecCorrection CorrectSpec(const std::string& json, const CheckOptions& options);

// The id, which is pinned at submit, and the intervals, which are spelled out.
std::vector<SpecChange> ChangesOf(const std::string& given_json, const std::string& sent_json);

}  // namespace interlock::backfill
