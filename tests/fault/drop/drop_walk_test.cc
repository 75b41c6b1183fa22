// The whole life of a drop (life.h) with exchange 1 with Druid spoiled, then 2, then 3 … until
// a run has no fault left.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fault/drop/life.h"

namespace interlock::drop {
namespace {

bool AnyFaultHit(DropSite& site) {
  for (const auto& request : site.druid().Requests()) {
    if (!request.fault.empty()) return true;
  }
  return false;
}

struct Walk {
  const char* name;
  const char* fault;  // members of a simulator's fault
};

// Its name in listings of tests: gtest would print its bytes.
void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.name; }

class DropWalk : public ::testing::TestWithParam<Walk> {
 protected:
  // Spoils exchange n of `run`, for n from 1 until a run has none so late.
  void ForEachExchange(void (*run)(Life&)) {
    for (int n = 1; n < 500; ++n) {
      SCOPED_TRACE(absl::StrCat("exchange ", n, " with ", GetParam().name));
      Life life;
      const auto fault = life.site().druid().AddFault(
          absl::StrCat(R"({"match":{},"walk":)", n, ",", GetParam().fault, "}"));
      ASSERT_TRUE(fault.ok()) << fault.status();
      life.Submit();
      if (HasFatalFailure()) return;
      run(life);
      if (HasFailure()) return;
      if (!AnyFaultHit(life.site())) {
        EXPECT_GT(n, 20) << "the walk ended before it began";
        return;
      }
    }
    ADD_FAILURE() << "the walk never ends";
  }
};

TEST_P(DropWalk, ADropIsKilledAndNothingElse) { ForEachExchange(RunToKilled); }

TEST_P(DropWalk, ADropIsRestored) { ForEachExchange(RunToRestored); }

INSTANTIATE_TEST_SUITE_P(
    Faults, DropWalk,
    ::testing::Values(Walk{"LostBefore", R"("kind":"lost_before")"},
                      Walk{"LostAfter", R"("kind":"lost_after")"},
                      Walk{"LateEffect", R"("kind":"late","delay_ms":20000)"},
                      Walk{"Status503", R"("kind":"status","status":503)"},
                      Walk{"Status500WithEffect", R"("kind":"status","status":500,"effect":true)"},
                      Walk{"Status502", R"("kind":"status","status":502)"},
                      Walk{"Garbage", R"("kind":"garbage")"},
                      Walk{"LostThreeTimes", R"("kind":"lost_after","times":3)"}),
    [](const auto& info) { return std::string(info.param.name); });

// What is longer, with the faults that the calls beside those of the lives above could mind.
class DropLives : public DropWalk {};

TEST_P(DropLives, ADropIsKilledAfterATaskThatWaitedTooLong) {
  ForEachExchange(RunToKilledAfterAShutdown);
}

TEST_P(DropLives, ADropThatIsGivenUpHalfWayIsPartlyRestored) {
  ForEachExchange(RunToPartlyRestored);
}

TEST_P(DropLives, ADropThatIsGivenUpBeforeItsKillIsAnsweredIsRestored) {
  ForEachExchange(RunToRestoredAfterAnUnansweredPost);
}

TEST_P(DropLives, ADropIsRestoredJustBeforeItsKill) { ForEachExchange(RunToRestoredFromChecking); }

INSTANTIATE_TEST_SUITE_P(Faults, DropLives,
                         ::testing::Values(Walk{"LostAfter", R"("kind":"lost_after")"},
                                           Walk{"Status500WithEffect",
                                                R"("kind":"status","status":500,"effect":true)"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace interlock::drop
