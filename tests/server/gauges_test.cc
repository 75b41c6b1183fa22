#include "server/gauges.h"

#include <gtest/gtest.h>

#include "lib/guard/findings.h"
#include "lib/store/sqlite.h"
#include "lib/sweep/findings.h"
#include "lib/sweep/swept.h"
#include "lib/time/fake_clock.h"
#include "server/store_schemas.h"
#include "tests/lib/druid/cluster_fixture.h"

namespace interlock::server {
namespace {

using druid::kHour;

class GaugesTest : public ::testing::Test {
 protected:
  GaugesTest() : store_(*store::OpenTemporarySqlite(StoreSchemas(), clock_)) {
    Write([](store::Transaction& tx) { return sweep::AddDatasource(tx, "clicks", true).status(); });
  }
  void Write(const std::function<absl::Status(store::Transaction&)>& body) {
    EXPECT_TRUE(store_->Write(body).ok());
  }
  double DuplicateRows() {
    gauges_.Update();
    return metrics_.duplicate_row_partitions.Add({{"datasource", "clicks"}}).Value();
  }
  sweep::Observed Swept() const {
    sweep::Observed observed;
    observed.verdict = "DUPLICATE_ROWS";
    observed.interval = kHour;
    observed.reason = "EQUAL_SUMS";
    return observed;
  }
  guard::Finding Guarded() const {
    guard::Finding finding;
    finding.subject = "VERDICT|clicks|13|v1";
    finding.kind = guard::kVerdict;
    finding.reason = "DUPLICATE_ROWS";
    finding.datasource = "clicks";
    finding.intervals = {kHour};
    return finding;
  }

  FakeClock clock_;
  std::unique_ptr<store::Store> store_;
  druid::Fixture druid_{druid::Reply(503, "")};
  Executor executor_{1};
  Metrics metrics_;
  Gauges gauges_{*store_, druid_.cluster, executor_, metrics_};
};

TEST_F(GaugesTest, WhatTheGuardAndTheSweeperBothFoundCountsOnce) {
  EXPECT_EQ(DuplicateRows(), 0);
  Write([&](store::Transaction& tx) { return guard::Report(tx, Guarded()).status(); });
  EXPECT_EQ(DuplicateRows(), 1) << "the guard alone";
  Write([&](store::Transaction& tx) { return sweep::Open(tx, "clicks", Swept()).status(); });
  EXPECT_EQ(DuplicateRows(), 1) << "one partition";
  Write([&](store::Transaction& tx) {
    sweep::Observed next_hour = Swept();
    next_hour.interval = Interval::Between(kHour.end(), kHour.end() + absl::Hours(1));
    return sweep::Open(tx, "clicks", next_hour).status();
  });
  EXPECT_EQ(DuplicateRows(), 2);
  Write([&](store::Transaction& tx) { return guard::Close(tx, Guarded().subject); });
  EXPECT_EQ(DuplicateRows(), 2);
}

}  // namespace
}  // namespace interlock::server
