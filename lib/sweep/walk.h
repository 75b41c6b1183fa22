// A sweep under way: of sweeper.cc and beside_pages.cc alone.
#pragma once

#include <string>

#include "lib/sweep/sweeper.h"

namespace interlock::sweep {

// One sweep of one datasource.
struct Sweeper::Walk {
  work::Claim& claim;
  std::string datasource;
  Instant begun;
  druid::IntervalContents contents;
  bool listed = true;  // the coordinator knows used segments of it
  int64_t segments = 0;
  int64_t unavailable = 0;
  std::string rules;   // asked once for all pages
  std::string failed;  // why it is not whole; "" while it is
};

}  // namespace interlock::sweep
