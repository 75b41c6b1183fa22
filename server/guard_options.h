// The operator's part of watching streams, from the configuration.
#pragma once

#include "interlock/config/v1/config.pb.h"
#include "lib/guard/options.h"

namespace interlock::server {

guard::Options GuardOptions(const config::v1::ServerConfig& config);

}  // namespace interlock::server
