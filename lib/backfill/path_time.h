// Dates that a path names.
//
// A path with placeholders may still name another day than its unit's: a date that was
// left in it when the rest was made a template. What it then reads would be dropped by
// Druid, row by row, and the unit emptied.
//
// Pure. Threads: functions without state.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/backfill/placeholder.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// The days that a text names, in UTC: 20260716, 2026-07-16, 2026/07/16,
// year=2026/month=07/day=16. Years 1970 to 2099.
std::vector<Interval> DaysIn(absl::string_view text);

// What the path is for this unit, where it names days and none of them touches the unit;
// "" where all is well. The end's own placeholders are not looked at: an end is the first
// moment after its unit.
std::string OutsideOf(const Template& path, const Interval& unit);

}  // namespace interlock::backfill
