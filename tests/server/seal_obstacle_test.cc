#include "server/seal_obstacle.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/audit/audit.h"
#include "lib/guard/check_append.h"
#include "lib/lease/reservations.h"
#include "lib/seal/rows.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kOrders[] = "orders";

Interval Of(const std::string& text) { return *Interval::Parse(text); }

// A sealed June, and a lease table beside it.
class SealObstacleTest : public ::testing::Test {
 protected:
  SealObstacleTest()
      : store_(*store::OpenTemporarySqlite(
            {audit::AuditSchema(), lease::LeaseSchema(), seal::SealSchema()}, clock_)) {
    limits_.obstacles = std::make_shared<lease::Obstacles>(std::vector{SealObstacle()});
    seal_.datasource = kOrders;
    seal_.interval = Of("2026-06-01/2026-07-01");
    seal_.label = "report 6";
    seal_.reason = "sent to the tax office";
    seal_.sealed_by = "ada";
    seal_.corrections_datasource = "orders__corrections";
    EXPECT_TRUE(
        store_->Write([&](store::Transaction& tx) { return seal::InsertSeal(tx, seal_); }).ok());
  }

  absl::Status Reserve(const std::string& interval, lease::Mode mode = lease::Mode::kReplace,
                       const std::string& datasource = kOrders) {
    lease::ReserveRequest request;
    request.datasource = datasource;
    request.intervals = {Of(interval)};
    request.mode = mode;
    request.holder = "airflow";
    request.purpose = "nightly";
    return store_->Write([&](store::Transaction& tx) {
      return lease::Reserve(tx, request, {"airflow", "", ""}, limits_).status();
    });
  }
  std::vector<seal::Holder> Holders(const std::string& interval) {
    std::vector<seal::Holder> holders;
    EXPECT_TRUE(store_
                    ->Write([&](store::Transaction& tx) {
                      auto found = HoldersOf(tx, kOrders, Of(interval));
                      if (found.ok()) holders = *found;
                      return found.status();
                    })
                    .ok());
    return holders;
  }

  FakeClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
  lease::Limits limits_;
  seal::Seal seal_;
};

TEST_F(SealObstacleTest, AGrantOverASealIsRefusedWithTheSealNamed) {
  for (const lease::Mode mode : {lease::Mode::kReplace, lease::Mode::kAppend}) {
    const absl::Status refused = Reserve("2026-06-12/2026-06-13", mode);
    EXPECT_EQ(ReasonOf(refused), "SEALED");
    EXPECT_THAT(std::string(refused.message()), HasSubstr(seal_.id));
  }
  EXPECT_EQ(ReasonOf(Reserve("2026-05-31/2026-06-02")), "SEALED");
}

TEST_F(SealObstacleTest, WhatIsBesideItIsGranted) {
  EXPECT_TRUE(Reserve("2026-07-01/2026-07-02").ok());
  EXPECT_TRUE(Reserve("2026-05-31/2026-06-01").ok());
  EXPECT_TRUE(Reserve("2026-06-12/2026-06-13", lease::Mode::kReplace, "clicks").ok());
}

// mozilla/bigquery-etl#3726: a backfill was done, and the next scheduled run overwrote it.
TEST_F(SealObstacleTest, Case098TheNextScheduledRunDoesNotOverwriteWhatWasSealed) {
  EXPECT_EQ(ReasonOf(Reserve("2026-06-30/2026-07-01")), "SEALED");
}

// apache/druid#3029: a late event for a sealed day. It is kept from there, and for good.
TEST_F(SealObstacleTest, Case042ALateEventForASealedDayIsRejected) {
  guard::AppendQuestion question;
  question.datasource = kOrders;
  question.instants = {*Instant::Parse("2026-06-12T10:00Z"), *Instant::Parse("2026-07-01T00:00Z")};
  const auto answer = guard::CheckAppend(*store_, question, {}, limits_);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->decision, guard::Decision::kReject);
  EXPECT_EQ(answer->each,
            (std::vector<guard::Decision>{guard::Decision::kReject, guard::Decision::kAllow}));
  ASSERT_THAT(answer->blockers, SizeIs(1));
  EXPECT_EQ(answer->blockers[0].reason, "SEALED");
}

TEST_F(SealObstacleTest, AnUnsealLetsGrantsThroughUntilItsEnd) {
  seal_.state = seal::State::kUnsealed;
  seal_.unseal_until = store_->Now() + absl::Hours(1);
  ASSERT_TRUE(
      store_->Write([&](store::Transaction& tx) { return seal::UpdateSeal(tx, seal_); }).ok());
  EXPECT_TRUE(Reserve("2026-06-12/2026-06-13").ok());
  clock_.Advance(absl::Hours(1) + absl::Seconds(1));
  EXPECT_EQ(ReasonOf(Reserve("2026-06-14/2026-06-15")), "SEALED");
}

TEST_F(SealObstacleTest, WhoHoldsTimeIsInTheWayOfASeal) {
  EXPECT_THAT(Holders("2026-07-01/2026-08-01"), IsEmpty());
  ASSERT_TRUE(Reserve("2026-07-05/2026-07-06").ok());
  const auto holders = Holders("2026-07-01/2026-08-01");
  ASSERT_THAT(holders, SizeIs(1));
  EXPECT_EQ(holders[0].type, "HELD");
  EXPECT_THAT(holders[0].description, HasSubstr("airflow"));
  EXPECT_THAT(Holders("2026-08-01/2026-09-01"), IsEmpty());
}

}  // namespace
}  // namespace interlock::server
