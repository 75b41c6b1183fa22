// The configuration file: read whole, checked whole, every fault with its line.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "interlock/config/v1/config.pb.h"

namespace interlock::server {

// "interlockd.textproto:12: listen.address: …"
struct ConfigFault {
  int line = 0;  // 1 for the first; 0 where there is no line to show (something is missing)
  std::string text;
};

struct CheckedConfig {
  config::v1::ServerConfig config;  // with defaults filled in
  std::vector<ConfigFault> faults;  // empty: it can be used
};

// Parses and checks `text`. What this version does not do is a fault where it is set,
// not an option that is taken and ignored.
CheckedConfig CheckConfig(const std::string& text);

// Reads and checks the file. INVALID_ARGUMENT with a line for each fault; NOT_FOUND.
absl::StatusOr<config::v1::ServerConfig> LoadConfig(const std::string& path);

// What `--dev --dir DIR` runs with: SQLite in DIR, the simulator for Druid, loopback.
config::v1::ServerConfig DevConfig(const std::string& dir);

absl::Duration ToAbsl(const google::protobuf::Duration& duration);

}  // namespace interlock::server
