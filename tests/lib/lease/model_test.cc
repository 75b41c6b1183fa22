// The lease table against its model. Seeded; a failure prints the command that replays it, in
// a store of its own.
#include <cstdlib>

#include "gtest/gtest.h"
#include "tests/lib/lease/table_simulation.h"

namespace interlock::lease {
namespace {

// Every run has datasources of its own, in one store for all of a part.
constexpr int kRuns = 500;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// INTERLOCK_SEED names another first seed, INTERLOCK_RUNS another number of them.
void RunSeedsFrom(int64_t first_of_part) {
  const int64_t first = FromEnvironment("INTERLOCK_SEED", first_of_part);
  const int64_t runs = FromEnvironment("INTERLOCK_RUNS", kRuns);
  Simulation simulation;
  for (int64_t seed = first; seed < first + runs; ++seed) {
    simulation.Run(seed);
    ASSERT_FALSE(::testing::Test::HasFailure())
        << "replay: INTERLOCK_SEED=" << seed
        << " INTERLOCK_RUNS=1 lib_lease_test --gtest_filter=LeaseModel.*Part1";
  }
}

// In parts, which run side by side.
TEST(LeaseModel, TheTableAgreesWithItsModelPart1) { RunSeedsFrom(1); }
TEST(LeaseModel, TheTableAgreesWithItsModelPart2) { RunSeedsFrom(1 + kRuns); }
TEST(LeaseModel, TheTableAgreesWithItsModelPart3) { RunSeedsFrom(1 + 2 * kRuns); }
TEST(LeaseModel, TheTableAgreesWithItsModelPart4) { RunSeedsFrom(1 + 3 * kRuns); }

}  // namespace
}  // namespace interlock::lease
