// A submitted task's JSON, checked as Druid checks it, and the payload it will answer.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lib/simulator/json.h"
#include "lib/simulator/task.h"
#include "lib/simulator/traits.h"

namespace interlock::simulator {

// `now` and `number` (of the task, counted) make an id where the task has none.
// INVALID_ARGUMENT with the text of `{"error":…}`.
absl::StatusOr<Task> ParseTask(const JsonValue& json, const Traits& traits, Instant now,
                               int64_t number);

// "aabbccdd" of letters a to p, as Druid's own ids have; the same for the same number.
std::string IdSuffix(int64_t number);

// The buckets of the intervals, condensed: what an ingestion may write, and locks.
std::vector<Interval> WidenedIntervals(const IngestSpec& spec);

}  // namespace interlock::simulator
