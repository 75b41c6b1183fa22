// A database of its own on the PostgreSQL that ctest's fixture `postgres` has started
// (INTERLOCK_POSTGRES_DSN), dropped at the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/store/postgres.h"
#include "tests/lib/store/databases/test_database.h"

namespace interlock::store {

class PostgresDatabase : public TestDatabase {
 public:
  PostgresDatabase();
  ~PostgresDatabase() override;

  // Time is the clock's wall time, in place of the database's.
  absl::StatusOr<std::unique_ptr<Store>> Open(std::vector<Schema> schemas,
                                              const Clock& clock) override;

  // Of this database.
  const std::string& dsn() const { return dsn_; }
  const std::string& name() const { return name_; }
  PostgresOptions Options(std::vector<Schema> schemas, const Clock& clock) const;
  // One statement, as its owner, on a connection of its own; gives the first value, or
  // throws.
  std::string Ask(const std::string& sql) const;
  // Cuts all connections to it.
  void CutConnections() const;

 private:
  std::string name_;
  std::string dsn_;
};

// The same on the server's own database, for what concerns the whole of it.
std::string AskServer(const std::string& sql);

}  // namespace interlock::store
