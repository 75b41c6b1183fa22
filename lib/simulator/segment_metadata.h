// Druid's native segmentMetadata query, as far as the columns go: merged, without analyses.
#pragma once

#include "absl/status/statusor.h"
#include "lib/simulator/json.h"
#include "lib/simulator/world.h"

namespace interlock::simulator {

// The reply's JSON. INVALID_ARGUMENT for what the simulator does not know.
absl::StatusOr<std::string> SegmentMetadata(const World& world, const JsonValue& query);

}  // namespace interlock::simulator
