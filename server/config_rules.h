#pragma once

#include <vector>

#include "google/protobuf/text_format.h"
#include "interlock/config/v1/config.pb.h"
#include "server/config.h"

namespace interlock::server {

// What must be true of a configuration as it was written (before defaults), each fault
// with the line it stands on.
void ApplyRules(const config::v1::ServerConfig& config,
                const google::protobuf::TextFormat::ParseInfoTree& lines,
                std::vector<ConfigFault>& faults);

// True for "127.0.0.1:1", "[::1]:1", "localhost:1", "unix:…".
bool IsLoopback(const std::string& address);

}  // namespace interlock::server
