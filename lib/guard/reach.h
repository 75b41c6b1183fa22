// Whether an interval reaches into a tail, and what would not. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/time/granularity.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::guard {

struct Reach {
  Instant boundary;  // of the tail, to the millisecond
  // The partitions of `asked` that lie before it, condensed; empty where none does.
  std::vector<Interval> outside;
  // The rest: a partition that the boundary cuts is in the tail as a whole.
  std::vector<Interval> inside;

  bool any() const { return !inside.empty(); }
};

// `asked` is aligned to `granularity`.
Reach ReachInto(const std::vector<Interval>& asked, Instant tail_start,
                const Granularity& granularity);

// "2026-07-16T13:00:00.000Z/…" of all, joined by a comma.
std::string Printed(const std::vector<Interval>& intervals);

}  // namespace interlock::guard
