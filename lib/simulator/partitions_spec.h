// The partitionsSpec of a tuningConfig: dynamic, hashed, range, single_dim.
#pragma once

#include "absl/status/status.h"
#include "lib/simulator/ingest_spec.h"

namespace interlock::simulator {

// INVALID_ARGUMENT with Druid's text for the first fault.
absl::Status ReadPartitionsSpec(const JsonValue& tuning, PartitionsSpec& partitions);

}  // namespace interlock::simulator
