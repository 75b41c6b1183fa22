// A datasource cut into pieces that are read one at a time, so that no reply and no memory
// grows with it.
//
// Pure. Threads: functions without state.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/druid/id_list_reader.h"
#include "lib/time/interval.h"

namespace interlock::sweep {

struct Page {
  Interval interval;                 // from the first partition's start to the last's end
  std::vector<Interval> partitions;  // in order of time, disjoint
  druid::IntervalContent content;    // of all of them
};

// Segments that overlap are judged together: a day with hours over it is one partition.
// A page has at most `most` segments, unless one partition alone has more.
std::vector<Page> PagesOf(const druid::IntervalContents& contents, int64_t most);

}  // namespace interlock::sweep
