// How streams are watched here: the operator's part.
#pragma once

#include <functional>
#include <string>

#include "absl/time/time.h"

namespace interlock::guard {

struct Options {
  // Time between two looks at the supervisors: how late a tail that moves back is known.
  absl::Duration poll_every = absl::Seconds(5);
  // Datasources in which backfills may run beside an unbounded tail. Empty: none.
  std::function<bool(const std::string& datasource)> accepts_unbounded;
  // How long an answer of CheckAppend holds.
  absl::Duration append_valid_for = absl::Seconds(10);
  // A stream's task that runs so long without a supervisor has nobody to stop it; one that
  // was suspended first ends sooner (publishing and hand-off took 61 s at most, measured).
  absl::Duration orphan_after = absl::Minutes(3);
  // A stream that throws no rows away for so long is right again.
  absl::Duration thrown_quiet = absl::Hours(1);
  // How long a proven interval is looked at again for rows that come late, and how often.
  absl::Duration late_rows_for = absl::Hours(24);
  absl::Duration late_rows_every = absl::Seconds(10);
};

}  // namespace interlock::guard
