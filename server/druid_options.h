// From the configuration's druid section to the adapter's options.
#pragma once

#include "absl/status/statusor.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/druid/cluster_options.h"

namespace interlock::server {

// Reads the password file. NOT_FOUND or INVALID_ARGUMENT, naming the file, never what is in
// it.
absl::StatusOr<druid::ClusterOptions> DruidOptions(const config::v1::Druid& config);

}  // namespace interlock::server
