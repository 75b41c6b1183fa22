// Typed fields of a task's JSON, with Druid's errors for wrong ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "lib/simulator/json.h"
#include "lib/time/granularity.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

// Absent gives the fallback; "true" and "false" as strings count, as in Jackson.
absl::StatusOr<bool> BoolField(const JsonValue& object, const char* name, bool fallback);
absl::StatusOr<std::optional<int64_t>> IntField(const JsonValue& object, const char* name);

// `chain` is Jackson's reference chain, for the error's text.
absl::StatusOr<Interval> ParseDruidInterval(const std::string& text, const std::string& chain);

// A name, or an object of type period or duration; absent gives the fallback's name.
absl::StatusOr<Granularity> GranularityField(const JsonValue& object, const char* name,
                                             const char* fallback);

// Druid's rules for ids and names of datasources (IdUtils); `field` is what it calls them.
absl::Status CheckId(const std::string& field, const std::string& id, absl::string_view java_class);

}  // namespace interlock::simulator
