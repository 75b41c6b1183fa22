// Druid's native timeseries query, as far as sums go.
#pragma once

#include "absl/status/statusor.h"
#include "lib/simulator/json.h"
#include "lib/simulator/world.h"

namespace interlock::simulator {

// The reply's JSON. INVALID_ARGUMENT for what is no such query, or is one that the
// simulator does not know.
absl::StatusOr<std::string> Timeseries(const World& world, const JsonValue& query);

}  // namespace interlock::simulator
