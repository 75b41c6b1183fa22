// A sweeper over a store of its own and a Druid that says what the test wrote down.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/audit/audit.h"
#include "lib/lease/reservations.h"
#include "lib/store/sqlite.h"
#include "lib/sweep/sweeper.h"
#include "lib/sweep/swept.h"
#include "lib/time/fake_clock.h"
#include "tests/lib/sweep/canned_druid.h"

namespace interlock::sweep {

inline constexpr char kHour[] = "2026-07-16T10/2026-07-16T11";
inline constexpr char kNextHour[] = "2026-07-16T11/2026-07-16T12";
inline constexpr char kOld[] = "2026-07-16T10:30:00.000Z";
inline constexpr char kNew[] = "2026-07-16T11:30:00.000Z";

// The clock stands at 13:00: a version of 11:30 is past a grace of an hour.
class SweeperTest : public ::testing::Test {
 protected:
  SweeperTest()
      : store_(*store::OpenTemporarySqlite(
            {audit::AuditSchema(), work::WorkSchema(), lease::LeaseSchema(), SweepSchema()},
            clock_)),
        sweeper_(MakeSweeper()) {
    EXPECT_TRUE(sweeper_->Begin().ok());
  }

  std::unique_ptr<Sweeper> MakeSweeper() {
    SweeperOptions options;
    options.on_open = [this](const Finding& finding) { opened_.push_back(finding); };
    options.datasources = patterns_;
    return std::make_unique<Sweeper>(*store_, druid_.cluster(), clock_, options);
  }
  // Does all steps that are due within the next minute; gives the datasources swept.
  std::vector<std::string> Round(Sweeper& sweeper, int64_t most = 100) {
    std::vector<std::string> swept;
    clock_.Advance(absl::Minutes(1));
    while (true) {
      auto claims =
          work::ClaimDue(*store_, clock_, {"me", absl::Seconds(60)}, {kListKind, kSweepKind}, most);
      EXPECT_TRUE(claims.ok()) << claims.status();
      if (claims->empty()) return swept;
      for (work::Claim& claim : *claims) {
        if (claim.kind == kSweepKind) swept.push_back(claim.key);
        Do(sweeper, claim);
      }
      if (most < 100) return swept;
    }
  }
  std::vector<std::string> Round() { return Round(*sweeper_); }
  void Do(Sweeper& sweeper, work::Claim& claim) {
    const auto outcome = sweeper.Step(claim);
    last_ = outcome.status();
    const auto status = store_->Write([&](store::Transaction& tx) -> absl::Status {
      if (!outcome.ok()) return work::Retry(tx, claim, tx.now() + absl::Minutes(1));
      if (outcome->kind == work::Outcome::Kind::kNextDue) {
        return work::Reschedule(tx, claim, outcome->due);
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
  }
  // The first finds the datasources, the second sweeps them.
  void FirstRounds() {
    Round();
    Round();
  }
  void NextSweep() {
    clock_.Advance(absl::Minutes(17));
    Round();
  }
  std::vector<Finding> Open(bool closed = false) {
    Listed listed;
    Filter filter;
    filter.open = !closed;
    filter.closed = closed;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto found = List(tx, filter, 100, "");
                      if (found.ok()) listed = *found;
                      return found.status();
                    })
                    .ok());
    return listed.findings;
  }
  std::vector<Swept> AllSwept() {
    std::vector<Swept> swept;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto found = ListSwept(tx, "");
                      if (found.ok()) swept = *found;
                      return found.status();
                    })
                    .ok());
    return swept;
  }

  FakeClock clock_;
  std::vector<std::string> patterns_;
  CannedDruid druid_;
  std::vector<Finding> opened_;
  absl::Status last_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Sweeper> sweeper_;
};

}  // namespace interlock::sweep
