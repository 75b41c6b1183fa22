// Connections to a PostgreSQL database, set up for what each is for.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/connection.h"
#include "lib/store/postgres_address.h"

namespace interlock::store {

class PostgresConnection : public Connection {
 public:
  // Run, of statements that end in COMMIT. `confirmed` turns false where the server says
  // that it has given up waiting for its standby: committed there, perhaps nowhere else.
  virtual absl::Status Commit(const std::string& sql, bool& confirmed) = 0;
};

enum class PostgresUse {
  kWrite,
  kRead,
  kMigrate,  // waits for as long as it takes
};

// STORE_UNAVAILABLE where there is none to be had.
absl::StatusOr<std::unique_ptr<PostgresConnection>> OpenPostgresConnection(
    const PostgresAddress& address, PostgresUse use);

}  // namespace interlock::store
