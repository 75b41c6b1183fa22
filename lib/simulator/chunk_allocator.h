// Where an append's rows go: into the chunk of time that stands there, with its version,
// or into a new one.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lib/simulator/task.h"

namespace interlock::simulator {

class World;

struct Chunk {
  Interval interval;
  std::string version;
  int core_partitions = 0;

  friend auto operator<=>(const Chunk&, const Chunk&) = default;
};

// The chunk for a row of the task at `time`. As Druid's allocator does it: the visible
// chunk if the task's lock covers all of it; else a new one of the task's granularity or,
// where that would run into others, of a finer one. FAILED_PRECONDITION where there is
// none, with the text of the task's error.
absl::StatusOr<Chunk> AllocateChunk(const World& world, const Task& task, Instant time);

}  // namespace interlock::simulator
