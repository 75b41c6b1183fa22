// From the configuration's drops section to lib/drop's options.
#pragma once

#include <memory>

#include "interlock/config/v1/config.pb.h"
#include "lib/drop/options.h"
#include "lib/drop/probe.h"
#include "lib/time/clock.h"

namespace interlock::server {

drop::Options DropOptions(const config::v1::ServerConfig& config);

// Looks for files where storage_probes says that segments lie; nothing without one.
// `clock` must outlive it.
std::shared_ptr<const drop::StorageProbe> DropProbe(const config::v1::Drops& config,
                                                    const Clock& clock);

}  // namespace interlock::server
