// What must be in order before anything is decided in a PostgreSQL database.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/connection.h"
#include "lib/store/schema.h"
#include "lib/time/instant.h"

namespace interlock::store {

// The tables that only this engine has: the correction of the clock, and a row for each
// server that writes.
Schema PostgresSchema();

// What an opened database starts from.
struct PostgresStart {
  std::string incarnation;
  std::string origin;  // which server and history it was found on
};

// Under a lock that keeps every other server out: schema, incarnation, origin.
absl::StatusOr<PostgresStart> StartPostgres(Connection& connection,
                                            const std::vector<Schema>& schemas, Instant wall);

// On a new connection: whether it leads to the server and history that the store has last
// seen. Where not (a fail-over, a restored copy), what must not repeat itself is lifted, by
// the first server that sees it. `origin` is brought up to date.
absl::Status CheckOrigin(Connection& connection, const std::vector<Schema>& schemas, Instant wall,
                         std::string& origin);

}  // namespace interlock::store
