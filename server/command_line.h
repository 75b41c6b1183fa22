// What interlockd is asked to do, from its command line.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace interlock::server {

struct CommandLine {
  enum class Task { kServe, kCheck, kMigrate, kBackup, kVersion, kHelp };

  Task task = Task::kServe;
  std::string config;  // a path; empty with --dev
  bool dev = false;
  std::string dev_dir = ".interlock-dev";
  std::string backup_to;  // a path, with kBackup
};

// INVALID_ARGUMENT with one line that names the flag, what is wrong and what would do.
// Reorders nothing and keeps no pointer into argv. Not thread-safe (getopt's state).
absl::StatusOr<CommandLine> ParseCommandLine(int argc, char* const argv[]);

// The text of --help, with a line's end at its end.
std::string CommandLineHelp();

}  // namespace interlock::server
