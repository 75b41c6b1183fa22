// Findings of Druid's locks: foreign writers in reserved time, and ids that are given again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/lease/reservations.h"
#include "tests/lib/sweep/sweeper_fixture.h"

namespace interlock::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class BesidePages : public SweeperTest {
 protected:
  // By "airflow", for a backfill that has work there.
  void Reserve(const char* interval) {
    const absl::Status reserved = store_->Write([&](store::Transaction& tx) -> absl::Status {
      lease::ReserveRequest request;
      request.datasource = "clicks";
      request.intervals = {*Interval::Parse(interval)};
      request.ttl = absl::Hours(10);
      request.holder = "airflow";
      auto grant = lease::Reserve(tx, request, {"airflow", "", ""}, {});
      if (!grant.ok()) return grant.status();
      return lease::PinWork(tx, grant->reservation.id, grant->reservation.token,
                            {"work", request.intervals[0], "backfills/b1", tx.now()});
    });
    ASSERT_TRUE(reserved.ok()) << reserved;
  }
};

TEST_F(BesidePages, ATaskThatIsNotOursInTimeOfABackfillIsAForeignWriter) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  druid_.locks = R"("clicks":[{"type":"EXCLUSIVE","groupId":"index_clicks_1","dataSource":)"
                 R"("clicks","interval":"2026-07-16T10:00:00.000Z/2026-07-16T11:00:00.000Z",)"
                 R"("version":"x","priority":50,"revoked":false},{"type":"EXCLUSIVE",)"
                 R"("groupId":"il-0123-clicks","dataSource":"clicks",)"
                 R"("interval":"2026-07-16T10:00:00.000Z/2026-07-16T11:00:00.000Z",)"
                 R"("version":"x","priority":50,"revoked":false}])";
  Reserve(kHour);
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.kind, kForeignWriter);
  EXPECT_EQ(Open()[0].observed.subject, "index_clicks_1");
  EXPECT_THAT(Open()[0].observed.message, HasSubstr("airflow"));
  druid_.locks = "";
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

// Its lock is gone, and what it wrote is not: segments of that lock's version.
TEST_F(BesidePages, WhatAForeignWriterLeftInReservedTimeKeepsItsFinding) {
  druid_.segments["clicks"] = {{kHour, kOld}};
  druid_.locks = absl::StrCat(R"("clicks":[{"type":"EXCLUSIVE","groupId":"index_clicks_1",)",
                              R"("dataSource":"clicks","interval":"2026-07-16T10:00:00.000Z/)",
                              R"(2026-07-16T11:00:00.000Z","version":")", kNew,
                              R"(","priority":50,"revoked":false}])");
  Reserve(kHour);
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  const int64_t number = Open()[0].number;
  druid_.locks = "";
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].number, number) << "the same finding";
  EXPECT_EQ(Open()[0].observed.reason, "SEGMENTS_IN_RESERVED_TIME");
  EXPECT_THAT(Open()[0].observed.segments, ElementsAre(CannedSegment{kHour, kNew}.id("clicks")));
  ASSERT_TRUE(store_
                  ->Write([&](store::Transaction& tx) -> absl::Status {
                    auto unpinned = lease::UnpinWork(tx, "work");
                    return unpinned;
                  })
                  .ok());
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty()) << "nobody's time any more";
}

std::string AppendLock(const char* interval) {
  return absl::StrCat(R"("clicks":[{"type":"APPEND","groupId":"index_clicks_2","dataSource":)",
                      R"("clicks","interval":")", Interval::Parse(interval)->ToString(),
                      R"(","version":"1970-01-01T00:00:00.000Z","priority":75,"revoked":false}])");
}

// Measured on a real Druid: its rows are not seen, and the metadata never tells.
TEST_F(BesidePages, Case006AnAppendThatGetsTheIdsOfDroppedSegmentsIsAFinding) {
  const CannedSegment dropped{kHour, "1970-01-01T00:00:00.000Z", 0, 0};
  druid_.segments["clicks"] = {{kNextHour, kNew}};
  druid_.unused_segments["clicks"] = {dropped};
  druid_.locks = AppendLock(kHour);
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.kind, kIdReused);
  EXPECT_THAT(Open()[0].observed.segments, ElementsAre(dropped.id("clicks")));
  EXPECT_THAT(Open()[0].observed.remedy, HasSubstr("replaces"));
  druid_.locks = "";
  NextSweep();
  EXPECT_THAT(Open(), SizeIs(1)) << "the task is over, and the rows are not to be seen";
  druid_.segments["clicks"] = {{kHour, kNew}, {kNextHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty()) << "replaced";
}

TEST_F(BesidePages, Case006AnAppendBesideSegmentsThatAreUsedGetsIdsOfItsOwn) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  druid_.unused_segments["clicks"] = {{kHour, "1970-01-01T00:00:00.000Z", 0, 0}};
  druid_.locks = AppendLock(kHour);
  FirstRounds();
  EXPECT_THAT(Open(), IsEmpty());
  // And what was replaced once has a version that no append has.
  druid_.segments["clicks"] = {{kNextHour, kNew}};
  druid_.unused_segments["clicks"] = {{kHour, kOld}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

}  // namespace
}  // namespace interlock::sweep
