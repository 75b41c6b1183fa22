// What a kill task does: unused segments lose their rows in the metadata store, and then
// their files.
#pragma once

#include "absl/status/status.h"
#include "lib/simulator/task.h"

namespace interlock::simulator {

class World;

// Stores the report. As in Druid the rows of a batch go before its files: an error leaves
// files that nothing names any more.
absl::Status Kill(World& world, Task& task);

}  // namespace interlock::simulator
