// What every engine of the store must do, as tests against store::Store. An engine's own
// test file instantiates them with a way to make databases.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/time/fake_clock.h"
#include "tests/lib/store/databases/test_database.h"

namespace interlock::store {

struct TestEngine {
  std::string name;
  std::function<std::unique_ptr<TestDatabase>()> make;
};

inline std::ostream& operator<<(std::ostream& out, const TestEngine& engine) {
  return out << engine.name;
}

class StoreContract : public ::testing::TestWithParam<TestEngine> {
 protected:
  // One table, thing(name, number, note).
  static Schema Things();

  void SetUp() override;
  void Reopen();

  absl::Status Put(const std::string& name, int64_t number);
  // -1 where there is none.
  int64_t Get(const std::string& name);
  int64_t Count();

  FakeClock clock_;
  std::unique_ptr<TestDatabase> database_;
  std::unique_ptr<Store> store_;
};

// Holds the store's writer inside a body, so that what is queued meanwhile waits together.
class HeldWriter {
 public:
  explicit HeldWriter(Store& store);
  ~HeldWriter() { Release(); }
  void Release();

 private:
  struct Gate;
  std::shared_ptr<Gate> gate_;
};

}  // namespace interlock::store
