#pragma once

#include "interlock/config/v1/config.pb.h"

namespace interlock::server {

// Sets every field that is not set to the default that config.proto writes beside it.
void FillDefaults(config::v1::ServerConfig& config);

}  // namespace interlock::server
