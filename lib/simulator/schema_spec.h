// The dataSchema of an ingestion spec.
#pragma once

#include "absl/status/status.h"
#include "lib/simulator/ingest_spec.h"

namespace interlock::simulator {

// INVALID_ARGUMENT with Druid's text for the first fault.
absl::Status ReadSchemaSpec(const JsonValue& schema, IngestSpec& spec);

}  // namespace interlock::simulator
