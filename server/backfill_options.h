// From the configuration to lib/backfill's options.
#pragma once

#include "interlock/config/v1/config.pb.h"
#include "lib/backfill/options.h"
#include "lib/lease/reservation.h"

namespace interlock::server {

backfill::Options BackfillOptions(const config::v1::ServerConfig& config,
                                  const lease::Limits& limits);

}  // namespace interlock::server
