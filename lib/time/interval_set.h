// Sets of time as vectors of intervals.
//
// A set is condensed: sorted, none empty, none touching the next. Condense makes one of
// any vector; every other function here wants condensed ones and gives condensed ones,
// in one pass over both (n + m steps).
#pragma once

#include <cstdint>
#include <vector>

#include "lib/time/interval.h"

namespace interlock {

// The same time as a condensed set; sorts, so n log n.
std::vector<Interval> Condense(std::vector<Interval> intervals);

bool IsCondensed(const std::vector<Interval>& intervals);

// What is in `from` and not in `minus`.
std::vector<Interval> Subtract(const std::vector<Interval>& from,
                               const std::vector<Interval>& minus);

// What is in both.
std::vector<Interval> Intersect(const std::vector<Interval>& a, const std::vector<Interval>& b);

// Whether all of `inner` is in `outer`. Nothing is covered by everything.
bool Covers(const std::vector<Interval>& outer, const std::vector<Interval>& inner);

// Summed length; at most that of eternity, so it cannot overflow.
int64_t TotalMillis(const std::vector<Interval>& intervals);

}  // namespace interlock
