// The store as interlockd opens it: every module's tables, in the order they are made.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/store/schema.h"
#include "lib/time/clock.h"

namespace interlock::server {

std::vector<store::Schema> StoreSchemas();
// Rises with every change of the schema: the steps of all modules together.
int StoreSchemaVersion();

// `interlockd --migrate` and `--backup FILE`.
absl::Status MigrateStore(const config::v1::ServerConfig& config, const Clock& clock);
absl::Status BackupStore(const config::v1::ServerConfig& config, const std::string& to);

}  // namespace interlock::server
