// Plans: what each partition would replace, what is in the way, and a world that moves.
#include "lib/backfill/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/backfill/json_document.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PlanTest : public testing::Test {
 protected:
  Plan PlanFor(const std::string& spec) {
    BackfillRequest request;
    request.spec = spec;
    auto plan = site_.backfills().MakePlan(request);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : Plan();
  }
  void Rules(const std::string& json) {
    const auto reply = site_.simulator().Ask("POST", "/druid/coordinator/v1/rules/clicks", json);
    EXPECT_EQ(reply.status, 200) << reply.body;
  }
  std::string Submit(BackfillRequest request, const std::string& id = "") {
    return ReasonOf(site_.backfills().Submit(request, site_.Caller(id)).status());
  }

  BackfillSite site_;
};

TEST_F(PlanTest, CountsWhatEachPartitionWouldReplace) {
  site_.Load(13, 5);
  const Plan plan = PlanFor(BackfillSite::InlineSpec(13, 15, 3));
  ASSERT_THAT(plan.partitions, SizeIs(2));
  ASSERT_THAT(plan.partitions[0].replaces, SizeIs(1));
  const Replaced& replaced = plan.partitions[0].replaces[0];
  EXPECT_EQ(replaced.version, site_.Version(13));
  EXPECT_EQ(replaced.segments, 1);
  EXPECT_GT(replaced.bytes, 0);
  EXPECT_EQ(replaced.rows, 5);
  EXPECT_THAT(plan.partitions[1].replaces, IsEmpty());
  EXPECT_EQ(plan.partitions[1].generation(), "");
}

// A finer one lies over the middle of it, so it is visible on both sides of that.
TEST_F(PlanTest, NamesASegmentThatCrossesOnce) {
  const auto over = [](int from, int to, const std::string& granularity) {
    return Edited(BackfillSite::InlineSpec(from, to, 2),
                  {{"/spec/dataSchema/granularitySpec/segmentGranularity", granularity}});
  };
  for (const std::string& spec : {over(12, 18, "\"SIX_HOUR\""), over(13, 14, "\"HOUR\"")}) {
    site_.RunUntilOver(site_.Submit(spec));
  }
  const Plan plan = PlanFor(over(8, 16, "\"EIGHT_HOUR\""));
  ASSERT_THAT(plan.partitions, SizeIs(1));
  ASSERT_THAT(plan.partitions[0].obstacles, SizeIs(1));
  EXPECT_EQ(plan.partitions[0].obstacles[0].kind, "CROSSING_GRANULARITY");
}

TEST_F(PlanTest, BlocksWhatARuleWouldDropOrNeverLoad) {
  Rules(R"([{"type":"dropByInterval","interval":"2026-07-16T13/2026-07-16T14"},
            {"type":"loadByInterval","interval":"2026-07-16T14/2026-07-16T15",
             "tieredReplicants":{}},
            {"type":"loadForever","tieredReplicants":{"_default_tier":1}}])");
  const Plan plan = PlanFor(site_.FilesSpec(13, 16, 3));
  ASSERT_THAT(plan.partitions, SizeIs(3));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(plan.partitions[i].action, PlannedPartition::Action::kBlocked);
    ASSERT_THAT(plan.partitions[i].obstacles, SizeIs(1));
    EXPECT_EQ(plan.partitions[i].obstacles[0].reason, "RETENTION_RULE");
  }
  EXPECT_EQ(plan.partitions[2].action, PlannedPartition::Action::kRun);
  // Nor is it begun.
  const std::string id = site_.Submit(BackfillSite::InlineSpec(13, 14, 3));
  site_.RunUntilOver(id, absl::Seconds(5));
  EXPECT_EQ(site_.Partitions(id)[0].reason, "RETENTION_RULE");
  EXPECT_THAT(site_.OurTasks(), IsEmpty());
}

TEST_F(PlanTest, TellsOfCompactionAndIsNotBlockedByIt) {
  site_.simulator().Ask("POST", "/simulator/locks",
                        R"({"group":"compact_clicks","datasource":"clicks","interval":")" +
                            Hour(13).ToString() + R"(","priority":25,"type":"EXCLUSIVE"})");
  const Plan plan = PlanFor(BackfillSite::InlineSpec(13, 14, 3));
  EXPECT_EQ(plan.partitions[0].action, PlannedPartition::Action::kRun);
  ASSERT_THAT(plan.partitions[0].obstacles, SizeIs(1));
  EXPECT_FALSE(plan.partitions[0].obstacles[0].blocking);
  EXPECT_EQ(plan.partitions[0].obstacles[0].kind, "COMPACTION");
}

TEST(Obstacle, Case027CalendarsThatCrossAreInTheWay) {
  druid::Segment week;
  week.id = "clicks_week";
  week.interval = *Interval::Parse("2015-01-26/2015-02-02");
  const Interval february = *Interval::Parse("2015-02-01/2015-03-01");
  EXPECT_TRUE(CrossingObstacle(week, february));
  EXPECT_EQ(CrossingObstacle(week, february)->reason, "CROSSING_GRANULARITY");
  EXPECT_FALSE(CrossingObstacle(week, *Interval::Parse("2015-01-01/2015-03-01")));
  EXPECT_FALSE(CrossingObstacle(week, *Interval::Parse("2015-01-27/2015-01-28")));
  EXPECT_FALSE(CrossingObstacle(week, *Interval::Parse("2015-02-02/2015-02-03")));
}

// A coarser segment is replaced in part; the plan says what of it stays.
TEST_F(PlanTest, Case018SaysWhatStaysOfASegmentThatSticksOut) {
  rapidjson::Document task;
  task.Parse(Edited(BackfillSite::InlineSpec(13, 14, 4),
                    {{"/spec/dataSchema/granularitySpec/segmentGranularity", "\"DAY\""},
                     {"/spec/dataSchema/granularitySpec/intervals", R"(["2026-07-16/2026-07-17"])"},
                     {"/id", "\"load-day\""}}));
  ASSERT_TRUE(site_.cluster().SubmitTask(WriteJson(task)).done());
  for (int i = 0; i < 30; ++i) site_.Pass(absl::Milliseconds(100));
  const Plan plan = PlanFor(BackfillSite::InlineSpec(13, 14, 3));
  EXPECT_THAT(plan.notices, Contains(HasSubstr("PARTLY_SHADOWED")));
  EXPECT_EQ(plan.partitions[0].action, PlannedPartition::Action::kRun);
  ASSERT_THAT(plan.partitions[0].replaces, SizeIs(1));
  EXPECT_EQ(plan.partitions[0].replaces[0].chunk, *Interval::Parse("2026-07-16/2026-07-17"));
}

// A plan that was made before somebody else's work was recorded is no plan any more.
TEST_F(PlanTest, Case128ASubmitOfAPlanIsRefusedWhenTheWorldHasMoved) {
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 3);
  request.plan_revision = site_.backfills().MakePlan(request)->revision;
  site_.Load(13, 5);
  const auto refused = site_.backfills().Submit(request, site_.Caller());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ReasonOf(refused.status()), "PLAN_STALE");
  // Its plan is refused for what its submit would be.
  EXPECT_EQ(ReasonOf(site_.backfills().MakePlan(request).status()), "PLAN_STALE");
  request.plan_revision.clear();
  request.plan_revision = site_.backfills().MakePlan(request)->revision;
  EXPECT_EQ(Submit(request, "r1"), "");
  // Sent again after its own doing has moved the world, it is still that request.
  site_.RunUntilOver("bf-1");
  EXPECT_EQ(Submit(request, "r1"), "");
}

TEST_F(PlanTest, Case098AnExpectedGenerationThatIsNoLongerThereRefuses) {
  site_.Load(13, 5);
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 3);
  request.expect_generation = site_.Version(13);
  site_.Load(13, 6);
  EXPECT_EQ(Submit(request), "GENERATION_MOVED");
  request.expect_generation = site_.Version(13);
  EXPECT_EQ(Submit(request), "");
}

TEST_F(PlanTest, CannotBeComparedWhileDruidIsAway) {
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 3);
  request.plan_revision = "0123";
  site_.transport().SpoilBy([](int64_t, const druid::HttpRequest&) { return Spoil::kUnreachable; });
  EXPECT_EQ(Submit(request), "DRUID_UNAVAILABLE");
}

// Asked for a day of months: the whole month is recomputed only with consent.
TEST_F(PlanTest, Case131NothingIsWidenedWithoutConsent) {
  BackfillRequest request;
  request.spec =
      Edited(BackfillSite::InlineSpec(13, 14, 3),
             {{"/spec/dataSchema/granularitySpec/segmentGranularity", "\"MONTH\""},
              {"/spec/dataSchema/granularitySpec/intervals", R"(["2026-07-10/2026-07-12"])"}});
  const auto refused = site_.backfills().MakePlan(request);
  ASSERT_THAT(FaultsOf(refused.status()), SizeIs(1));
  EXPECT_THAT(FaultsOf(refused.status())[0].would_do,
              HasSubstr("2026-07-01T00:00:00.000Z/2026-08-01T00:00:00.000Z"));
  request.accept_widening = true;
  const auto plan = site_.backfills().MakePlan(request);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->widened);
  EXPECT_THAT(plan->notices, Contains(HasSubstr("WIDENED")));
}

}  // namespace
}  // namespace interlock::backfill
