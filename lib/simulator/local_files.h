// The files of a local input source.
#pragma once

#include <string>
#include <vector>

#include "lib/simulator/ingest_spec.h"

namespace interlock::simulator {

// In order of path, below baseDir at any depth, names matching the filter; and the listed
// ones. What does not exist is left out: Druid reads nothing there and says SUCCESS.
std::vector<std::string> LocalFiles(const InputSpec& input);

// Empty if it can't be read.
std::string ReadFile(const std::string& path);

}  // namespace interlock::simulator
