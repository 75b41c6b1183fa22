// Whose the segments are that are not loaded.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/druid/cluster.h"
#include "lib/druid/timeline.h"
#include "lib/time/interval.h"

namespace interlock::sweep {

// Of the `unavailable` segments of all `partitions` together (in order of time), how many are
// each one's: asked by halving, so that one among thousands is no fault of the others. Nothing
// for those that a bounded number of questions did not reach.
std::vector<std::optional<int64_t>> FindUnloaded(druid::Cluster& cluster,
                                                 const std::string& datasource,
                                                 const druid::Timeline& timeline,
                                                 const std::vector<Interval>& partitions,
                                                 int64_t unavailable);

}  // namespace interlock::sweep
