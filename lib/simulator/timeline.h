// Which segments queries see: per slice of time the highest version whose core partitions
// are all there. The simulator's own reading of Druid's rule, so that a mistake in the
// one under test is not made twice.
#pragma once

#include <string>
#include <vector>

#include "lib/simulator/segment.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

struct Slice {
  Interval interval;
  std::string version;
  std::vector<const Segment*> segments;  // all partitions, appended ones too
};

// Disjoint slices in order of time; time that no complete version covers is absent.
std::vector<Slice> VisibleSlices(const std::vector<const Segment*>& segments);

// True if higher versions than the segment's cover all of its interval in `slices`.
bool Overshadowed(const Segment& segment, const std::vector<Slice>& slices);

}  // namespace interlock::simulator
