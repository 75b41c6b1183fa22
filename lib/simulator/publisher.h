// What an ingestion writes: segments of the rows it read, tombstones for what it emptied,
// all at one moment.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lib/simulator/task.h"

namespace interlock::simulator {

class World;

// Stores the task's segments, and their ids in the task. On an error nothing is stored;
// its text is the task's errorMsg.
absl::Status Publish(World& world, Task& task);

// The buckets that have rows, condensed.
std::vector<Interval> WrittenIntervals(const IngestSpec& spec, const Input& input);

}  // namespace interlock::simulator
