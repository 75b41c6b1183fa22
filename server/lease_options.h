// What the configuration says of leases, as lib/lease takes it.
#pragma once

#include "interlock/config/v1/config.pb.h"
#include "lib/lease/reservation.h"

namespace interlock::server {

// `config` has its defaults filled in. Whoever grants, the same bars it: seals too.
lease::Limits LeaseLimits(const config::v1::ServerConfig& config);

}  // namespace interlock::server
