// The whole life of a drop (life.h) with the process killed at exchange 1 with Druid, then 2,
// then 3 …, and with that exchange timed out.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fault/drop/life.h"

namespace interlock::drop {
namespace {

// The process is killed at exchange n: before it is sent, or after its effect.
class DropCrash : public ::testing::TestWithParam<bool> {
 protected:
  void ForEachExchange(void (*run)(Life&)) {
    for (int n = 1; n < 500; ++n) {
      SCOPED_TRACE(absl::StrCat("killed ", GetParam() ? "after" : "before", " exchange ", n));
      Life life;
      int exchange = 0;
      const auto crash = [&](const druid::HttpRequest&) {
        if (++exchange == n) throw Crash();
      };
      (GetParam() ? life.site().after_reply : life.site().before_send) = crash;
      life.Submit();
      if (HasFatalFailure()) return;
      run(life);
      if (HasFailure()) return;
      if (exchange < n) {
        EXPECT_GT(n, 20) << "the walk ended before it began";
        return;
      }
    }
    ADD_FAILURE() << "the walk never ends";
  }
};

TEST_P(DropCrash, ADropIsKilledAndNothingElse) { ForEachExchange(RunToKilled); }

TEST_P(DropCrash, ADropIsRestored) { ForEachExchange(RunToRestored); }

TEST_P(DropCrash, ADropIsKilledAfterATaskThatWaitedTooLong) {
  ForEachExchange(RunToKilledAfterAShutdown);
}

TEST_P(DropCrash, ADropThatIsGivenUpHalfWayIsPartlyRestored) {
  ForEachExchange(RunToPartlyRestored);
}

TEST_P(DropCrash, ADropThatIsGivenUpBeforeItsKillIsAnsweredIsRestored) {
  ForEachExchange(RunToRestoredAfterAnUnansweredPost);
}

TEST_P(DropCrash, ADropIsRestoredJustBeforeItsKill) { ForEachExchange(RunToRestoredFromChecking); }

INSTANTIATE_TEST_SUITE_P(Moments, DropCrash, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "AfterTheEffect" : "BeforeTheCall");
});

// Exchange n is not answered within its deadline: it was never sent, or its effect is there.
class DropTimeout : public ::testing::TestWithParam<DropSite::Fate> {
 protected:
  void ForEachExchange(void (*run)(Life&)) {
    for (int n = 1; n < 500; ++n) {
      SCOPED_TRACE(absl::StrCat("exchange ", n, " times out"));
      Life life;
      int exchange = 0;
      life.site().fate = [&](const druid::HttpRequest&) {
        return ++exchange == n ? GetParam() : DropSite::Fate::kGood;
      };
      life.Submit();
      if (HasFatalFailure()) return;
      run(life);
      if (HasFailure()) return;
      if (exchange < n) {
        EXPECT_GT(n, 20) << "the walk ended before it began";
        return;
      }
    }
    ADD_FAILURE() << "the walk never ends";
  }
};

TEST_P(DropTimeout, ADropIsKilledAndNothingElse) { ForEachExchange(RunToKilled); }

TEST_P(DropTimeout, ADropIsRestored) { ForEachExchange(RunToRestored); }

TEST_P(DropTimeout, ADropIsKilledAfterATaskThatWaitedTooLong) {
  ForEachExchange(RunToKilledAfterAShutdown);
}

TEST_P(DropTimeout, ADropThatIsGivenUpHalfWayIsPartlyRestored) {
  ForEachExchange(RunToPartlyRestored);
}

TEST_P(DropTimeout, ADropThatIsGivenUpBeforeItsKillIsAnsweredIsRestored) {
  ForEachExchange(RunToRestoredAfterAnUnansweredPost);
}

TEST_P(DropTimeout, ADropIsRestoredJustBeforeItsKill) {
  ForEachExchange(RunToRestoredFromChecking);
}

INSTANTIATE_TEST_SUITE_P(Moments, DropTimeout,
                         ::testing::Values(DropSite::Fate::kTimesOutBefore,
                                           DropSite::Fate::kTimesOutAfter),
                         [](const auto& info) {
                           const bool after = info.param == DropSite::Fate::kTimesOutAfter;
                           return std::string(after ? "AfterTheEffect" : "BeforeTheCall");
                         });

}  // namespace
}  // namespace interlock::drop
