// One connection to the database: statements, prepared once, on one thread at a time.
// Errors are classified here, so that nothing above knows an engine's codes:
// StoreUnavailable, ConstraintViolated, BadStatement (store_errors.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/store.h"

namespace interlock::store {

class Connection {
 public:
  virtual ~Connection() = default;

  // As in Transaction.
  virtual absl::StatusOr<Rows> Query(const char* sql, Values values) = 0;
  virtual absl::StatusOr<int64_t> Execute(const char* sql, Values values) = 0;
  // One statement without parameters or result that is not worth keeping: schema, settings.
  virtual absl::Status Run(const std::string& sql) = 0;
  // Whether it can be of use again after an error.
  virtual bool usable() const { return true; }
};

}  // namespace interlock::store
