// The cluster's state in a file, so that a simulator that is started again knows what the
// one before it knew: segments, tasks, rules. Rows are not in it: they are read back from
// deep storage, so a state file needs a folder for that.
//
// What is not kept: locks (tasks that had not ended start anew, under their ids, and take
// theirs again), faults and the request log.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/simulator/world.h"

namespace interlock::simulator {

std::string SaveState(const World& world);

// Into a fresh world. INVALID_ARGUMENT for what is no such state; UNAVAILABLE where a
// segment's file is gone.
absl::Status RestoreState(absl::string_view saved, World& world);

// The whole file at once, so that a crash leaves the old one or the new one.
absl::Status WriteWholeFile(const std::string& path, const std::string& text);

}  // namespace interlock::simulator
