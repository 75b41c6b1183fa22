#include "lib/guard/reach.h"

#include "absl/strings/str_join.h"
#include "lib/time/interval_set.h"

namespace interlock::guard {

Reach ReachInto(const std::vector<Interval>& asked, Instant tail_start,
                const Granularity& granularity) {
  Reach reach;
  reach.boundary = tail_start;
  // No bound: nothing lies before it.
  const Instant cut = tail_start == Instant::kMin ? tail_start : granularity.Floor(tail_start);
  const std::vector<Interval> before = {Interval::Between(Instant::kMin, cut)};
  reach.outside = Condense(Intersect(asked, before));
  reach.inside = Subtract(asked, before);
  return reach;
}

std::string Printed(const std::vector<Interval>& intervals) {
  return absl::StrJoin(intervals, ", ", [](std::string* out, const Interval& interval) {
    out->append(interval.ToString());
  });
}

}  // namespace interlock::guard
