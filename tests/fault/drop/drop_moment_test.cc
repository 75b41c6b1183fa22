// The whole life of a drop (life.h) with the process killed at exchange 1 with Druid, then 2,
// then 3 …, and with that exchange timed out.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fault/drop/life.h"

namespace interlock::drop {
namespace {

// A life at whose exchange 1 with Druid, then 2, then 3 … something happens, until there is none
// so late.
template <typename Moment>
class AtEachExchange : public ::testing::TestWithParam<Moment> {
 protected:
  virtual void Arm(DropSite& site, int n, int& exchange) = 0;

  void ForEachExchange(void (*run)(Life&)) {
    for (int n = 1; n < 500; ++n) {
      SCOPED_TRACE(absl::StrCat("exchange ", n));
      Life life;
      int exchange = 0;
      Arm(life.site(), n, exchange);
      life.Submit();
      if (this->HasFatalFailure()) return;
      run(life);
      if (this->HasFailure()) return;
      if (exchange < n) {
        EXPECT_GT(n, 20) << "the walk ended before it began";
        return;
      }
    }
    ADD_FAILURE() << "the walk never ends";
  }
};

// The process is killed there: before it is sent, or after its effect.
class DropCrash : public AtEachExchange<bool> {
 protected:
  void Arm(DropSite& site, int n, int& exchange) override {
    (GetParam() ? site.after_reply : site.before_send) = [n, &exchange](const druid::HttpRequest&) {
      if (++exchange == n) throw Crash();
    };
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

// It is not answered within its deadline: it was never sent, or its effect is there.
class DropTimeout : public AtEachExchange<DropSite::Fate> {
 protected:
  void Arm(DropSite& site, int n, int& exchange) override {
    site.fate = [n, &exchange](const druid::HttpRequest&) {
      return ++exchange == n ? GetParam() : DropSite::Fate::kGood;
    };
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
