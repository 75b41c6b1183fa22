// What stands in a partition's way, and what was found of it, as the store keeps them.
//
// Threads: functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/backfill/obstacles.h"
#include "lib/verify/neighbours.h"
#include "lib/verify/verdict.h"

namespace interlock::backfill {

// "" for none.
std::string ToJson(const std::vector<Obstacle>& obstacles);
std::vector<Obstacle> ObstaclesFrom(const std::string& json);

std::string ToJson(const std::vector<verify::Finding>& findings);
std::vector<verify::Finding> FindingsFrom(const std::string& json);

// Segments that were read next door; "" where that was not looked at.
std::string ToJson(const std::optional<std::vector<verify::SeenSegment>>& segments);
std::optional<std::vector<verify::SeenSegment>> SeenSegmentsFrom(const std::string& json);

}  // namespace interlock::backfill
