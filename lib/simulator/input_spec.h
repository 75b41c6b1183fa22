// The inputSource and inputFormat of an ioConfig.
#pragma once

#include "absl/status/status.h"
#include "lib/simulator/ingest_spec.h"

namespace interlock::simulator {

// INVALID_ARGUMENT with Druid's text for the first fault.
absl::Status ReadInputSpec(const JsonValue& io, InputSpec& input);

}  // namespace interlock::simulator
