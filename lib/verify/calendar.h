// The calendar of what is there: which granularity's buckets the segments fill, and the
// partitions that a question about some time is about.
//
// Pure. Threads: functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/druid/timeline.h"
#include "lib/time/granularity.h"
#include "lib/time/interval.h"

namespace interlock::verify {

// The coarsest calendar of Druid's named ones, in UTC, of which every visible chunk in
// `interval` is a bucket; nothing where there is no chunk, or where they are mixed.
std::optional<Granularity> CalendarOf(const druid::Timeline& timeline, const Interval& interval);

// The partitions of `interval`: its buckets in `calendar`, cut at the interval's ends; or,
// without a calendar, the chunks that are visible, those that overlap taken together, with
// the gaps between. OUT_OF_RANGE beyond `limit`.
absl::StatusOr<std::vector<Interval>> PartitionsOf(const druid::Timeline& timeline,
                                                   const Interval& interval,
                                                   const std::optional<Granularity>& calendar,
                                                   int64_t limit);

}  // namespace interlock::verify
