// What a person is shown of a partition: what is in its way, what was found of it, what became
// of the rows that were read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/backfill/told_json.h"
#include "lib/lease/reservations.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ToldTest : public testing::Test {
 protected:
  StoredPartition First(const std::string& id) { return site_.Partitions(id).front(); }
  void Lock(const std::string& group) {
    site_.simulator().Ask(
        "POST", "/simulator/locks",
        absl::StrCat(R"({"group":")", group, R"(","datasource":"clicks","interval":")",
                     Hour(13).ToString(), R"(","priority":75,"type":"EXCLUSIVE"})"));
  }
  void Hold(int hour) {
    absl::Status status = site_.store().Write([&](store::Transaction& tx) {
      lease::ReserveRequest request;
      request.datasource = "clicks";
      request.intervals = {Hour(hour)};
      request.ttl = absl::Hours(1);
      request.holder = "nightly";
      request.purpose = "orders";
      return lease::Reserve(tx, request, {"bob", "", ""}).status();
    });
    ASSERT_TRUE(status.ok()) << status;
  }

  BackfillSite site_;
};

TEST_F(ToldTest, AnotherTasksLockIsInTheWayAsLongAsItIsHeld) {
  Lock("index_other");
  const std::string id = site_.Submit(BackfillSite::InlineSpec(13, 14, 3));
  site_.RunUntilOver(id, absl::Seconds(3));
  ASSERT_THAT(First(id).blockers, SizeIs(1));
  const Obstacle lock = First(id).blockers[0];
  EXPECT_EQ(lock.kind, "DRUID_LOCK");
  EXPECT_EQ(lock.task_id, "index_other");
  EXPECT_EQ(lock.priority, 75);
  EXPECT_EQ(lock.interval, Hour(13));
  EXPECT_TRUE(lock.blocking);
  EXPECT_TRUE(lock.since.has_value());
  EXPECT_THAT(lock.remedy, HasSubstr("wait"));
  site_.simulator().Ask("DELETE", "/simulator/locks/index_other");
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_THAT(First(id).blockers, IsEmpty());
}

TEST_F(ToldTest, WhoHoldsASkippedPartitionStaysWithIt) {
  Hold(14);
  BackfillRequest request;
  request.spec = site_.FilesSpec(13, 15, 3);
  request.skip_held = true;
  const auto submitted = site_.backfills().Submit(request, site_.Caller());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const auto partitions = site_.Partitions(submitted->backfill.id);
  EXPECT_THAT(partitions[0].blockers, IsEmpty());
  ASSERT_THAT(partitions[1].blockers, SizeIs(1));
  EXPECT_EQ(partitions[1].blockers[0].kind, "RESERVATION");
  EXPECT_EQ(partitions[1].blockers[0].holder, "nightly");
  EXPECT_EQ(partitions[1].blockers[0].purpose, "orders");
}

TEST_F(ToldTest, ADruidThatIsAwayIsNamed) {
  site_.transport().SpoilBy([](int64_t, const druid::HttpRequest&) { return Spoil::kUnreachable; });
  const std::string id = site_.Submit(BackfillSite::InlineSpec(13, 14, 3));
  site_.RunUntilOver(id, absl::Seconds(2));
  ASSERT_THAT(First(id).blockers, SizeIs(1));
  EXPECT_EQ(First(id).blockers[0].kind, "DRUID_UNKNOWN");
}

TEST_F(ToldTest, WhatMadeAPartitionSuspectIsSaidInTheWordsOfAVerification) {
  site_.Load(13, 5);
  const std::string id = site_.Submit(BackfillSite::WipingSpec(13));
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "NEEDS_ATTENTION");
  const auto findings = First(id).findings;
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].verdict, verify::Verdict::kTombstoned);
  EXPECT_THAT(findings[0].next, HasSubstr("roll back"));
}

TEST_F(ToldTest, OtherRowsThanExpectedAreAFinding) {
  BackfillRequest request;
  request.spec = site_.FilesSpec(13, 14, 3);
  request.expected_partitions = {{Hour(13), 4, {}}};
  const auto submitted = site_.backfills().Submit(request, site_.Caller());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  site_.RunUntilOver(submitted->backfill.id);
  const auto findings = First(submitted->backfill.id).findings;
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].reason, "ROWS_DIFFER");
  EXPECT_EQ(findings[0].verdict, verify::Verdict::kMissingRows);
  EXPECT_EQ(findings[0].evidence, "3 rows, and 4 are expected");
}

TEST_F(ToldTest, RowsThatWereReadAndThrownAwayAreAddedUp) {
  // Each task reads two rows of its hour, and two of another.
  std::string spec =
      Edited(BackfillSite::InlineSpec(13, 15, 2),
             {{"/spec/dataSchema/granularitySpec/intervals", R"(["2026-07-16T13:00:00Z/PT1H"])"}});
  const Backfills::Detail over = site_.RunUntilOver(site_.Submit(spec));
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE");
  EXPECT_EQ(over.totals.rows, 2);
  EXPECT_EQ(over.totals.thrown_away, 2);
}

TEST(ToldJson, WhatIsStoredComesBack) {
  Obstacle obstacle;
  obstacle.kind = "TAIL";
  obstacle.reason = "TAIL";
  obstacle.interval = Hour(13);
  obstacle.blocking = false;
  obstacle.by_stream = true;
  obstacle.until = Hour(14).end();
  obstacle.priority = 75;
  const auto obstacles = ObstaclesFrom(ToJson(std::vector<Obstacle>{obstacle}));
  ASSERT_THAT(obstacles, SizeIs(1));
  EXPECT_EQ(obstacles[0].kind, "TAIL");
  EXPECT_EQ(obstacles[0].interval, Hour(13));
  EXPECT_FALSE(obstacles[0].blocking);
  EXPECT_TRUE(obstacles[0].by_stream);
  EXPECT_EQ(obstacles[0].until, Hour(14).end());
  EXPECT_EQ(obstacles[0].since, std::nullopt);
  EXPECT_EQ(obstacles[0].priority, 75);
  const auto findings = FindingsFrom(ToJson(std::vector<verify::Finding>{
      verify::MakeFinding(verify::Verdict::kForeignWrite, "seen", {"a", "b"}, 0.5, "WHO")}));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].verdict, verify::Verdict::kForeignWrite);
  EXPECT_EQ(findings[0].reason, "WHO");
  EXPECT_EQ(findings[0].score, 0.5);
  EXPECT_THAT(findings[0].segments, ElementsAre("a", "b"));
  // Nothing next door is not the same as nobody looked.
  using Seen = std::optional<std::vector<verify::SeenSegment>>;
  EXPECT_EQ(ToJson(Seen()), "");
  EXPECT_FALSE(SeenSegmentsFrom("").has_value());
  ASSERT_TRUE(SeenSegmentsFrom(ToJson(Seen(std::vector<verify::SeenSegment>()))).has_value());
}

}  // namespace
}  // namespace interlock::backfill
