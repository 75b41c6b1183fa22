// Marking segments used and unused, as each version counts and dates it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/simulator/world.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

// The body of a group mark: exactly one of interval and ids.
struct MarkFilter {
  std::optional<Interval> interval;
  std::optional<std::vector<std::string>> ids;
  std::optional<std::vector<std::string>> versions;  // only with the interval
};

// How many segments Druid would say changed: in newer versions those that did, or, by id,
// those that exist (and all of these are dated anew); in older ones those that match.
int64_t MarkUnused(World& world, const std::string& datasource, const MarkFilter& filter);

// Only what no higher used version hides comes back, and only changes count.
int64_t MarkUsed(World& world, const std::string& datasource, const MarkFilter& filter);

// One segment by id, hidden or not; dated anew even where it was so already. False if
// there is none.
bool MarkOne(World& world, const std::string& datasource, const std::string& id, bool used);

}  // namespace interlock::simulator
