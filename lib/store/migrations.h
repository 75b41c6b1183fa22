// Brings a database's tables to what this program knows.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lib/store/connection.h"
#include "lib/store/schema.h"
#include "lib/store/sql_text.h"
#include "lib/time/instant.h"

namespace interlock::store {

// Runs the missing steps of every module, in the order given, inside the caller's
// transaction: all of them or none. STORE_NEWER_SCHEMA where a module is ahead of what
// `schemas` knows, or is not among them; STORE_MIGRATION where a step fails.
absl::Status Migrate(Connection& connection, Engine engine, const std::vector<Schema>& schemas,
                     Instant now);

}  // namespace interlock::store
