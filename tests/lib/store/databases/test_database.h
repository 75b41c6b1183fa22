// A database of either engine for one test, gone with it.
//
// Tests of layers above the store say nothing of engines: they open what ChosenDatabase
// gives. ctest runs them twice, the second time with INTERLOCK_TEST_ENGINE=postgresql
// (`interlock_test(… ENGINES)`).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::store {

// One database, which outlives the stores that are opened on it.
class TestDatabase {
 public:
  virtual ~TestDatabase() = default;
  virtual absl::StatusOr<std::unique_ptr<Store>> Open(std::vector<Schema> schemas,
                                                      const Clock& clock) = 0;
};

std::unique_ptr<TestDatabase> NewSqliteDatabase();
std::unique_ptr<TestDatabase> ChosenDatabase();

// A store on a database of its own.
std::unique_ptr<Store> OpenChosenStore(std::vector<Schema> schemas, const Clock& clock);

}  // namespace interlock::store
