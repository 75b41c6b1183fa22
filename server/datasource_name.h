// The datasource that a request names, where it is asked of Druid or written about.
//
// Threads: functions without state.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace interlock::server {

// By Druid's own rule for names, which is also the simulator's: what can't be a datasource is a
// misspelt one, and `..` would be another path of Druid's. INVALID_DATASOURCE
// (INVALID_ARGUMENT) at `field`; an empty name is told like every field that is missing.
absl::Status CheckDatasource(const std::string& name, const std::string& field = "/datasource");

}  // namespace interlock::server
