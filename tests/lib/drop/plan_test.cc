#include "lib/drop/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/drop/segments.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";
const char kHour14[] = "2026-07-16T14:00Z/2026-07-16T15:00Z";

Plan PlanOf(const std::string& interval, const std::vector<druid::Segment>& used) {
  return PlanFrom("clicks", {Of(interval)}, used);
}

TEST(DropPlan, TakesHiddenUsedSegmentsToo) {
  const auto old = MakeSegment(kHour13, "v1");
  const auto now = MakeSegment(kHour13, "v2");
  const Plan plan = PlanOf(kHour13, {now, old});
  ASSERT_THAT(plan.manifest, SizeIs(2));
  EXPECT_EQ(plan.manifest[0].id, old.id);
  EXPECT_TRUE(plan.manifest[0].hidden);
  EXPECT_FALSE(plan.manifest[1].hidden);
  EXPECT_EQ(plan.visible_count(), 1);
  EXPECT_EQ(plan.hidden_count(), 1);
  EXPECT_EQ(plan.size_bytes(), 200);
  EXPECT_THAT(plan.versions(), ElementsAre("v1", "v2"));
}

TEST(DropPlan, SaysWhatBecomesVisibleUnderneath) {
  const auto day = MakeSegment("2026-07-16/2026-07-17", "v1");
  const auto hour = MakeSegment(kHour13, "v2");
  const Plan plan = PlanOf(kHour13, {day, hour});
  EXPECT_THAT(plan.reveals, ElementsAre(Stretch{Of(kHour13), "v1", false}));
  EXPECT_THAT(plan.leaves_empty, IsEmpty());
  ASSERT_THAT(plan.stays(), SizeIs(1));
  EXPECT_EQ(plan.stays()[0].id, day.id);
}

// Case 127: somebody deletes first and means to insert afterwards. A plan says where
// nothing would be left to read.
TEST(DropPlan, Case127SaysWhereNothingWouldBeLeft) {
  const Plan plan =
      PlanOf("2026-07-16T13:00Z/2026-07-16T15:00Z",
             {MakeSegment(kHour13, "v1"), MakeSegment(kHour13, "v2"), MakeSegment(kHour14, "v1")});
  EXPECT_THAT(plan.reveals, IsEmpty());
  EXPECT_THAT(plan.leaves_empty, ElementsAre(Of("2026-07-16T13:00Z/2026-07-16T15:00Z")));
}

// Case 46: an interval with an offset over segments of UTC days.
TEST(DropPlan, Case046IntervalWithAnOffsetCutsTwoDays) {
  const Interval asked = Of("2018-01-02T00:00:00+08:00/2018-01-03T00:00:00+08:00");
  EXPECT_EQ(asked.ToString(), "2018-01-01T16:00:00.000Z/2018-01-02T16:00:00.000Z");
  const Plan plan = PlanFrom(
      "clicks", {asked},
      {MakeSegment("2018-01-01/2018-01-02", "v1"), MakeSegment("2018-01-02/2018-01-03", "v1")});
  EXPECT_THAT(plan.doomed(), IsEmpty());
  EXPECT_THAT(plan.stays(), SizeIs(2));
}

// Case 58: segments on a grid of 16:00, and a drop by days.
TEST(DropPlan, Case058TakesOnlyContainedSegmentsAndShowsTheBoundariesOfOthers) {
  const auto contained = MakeSegment("2018-08-26T16:00Z/2018-08-27T16:00Z", "v1");
  const auto cut = MakeSegment("2018-08-27T16:00Z/2018-08-28T16:00Z", "v1");
  const Plan plan = PlanOf("2018-08-26/2018-08-28", {contained, cut});
  ASSERT_THAT(plan.doomed(), SizeIs(1));
  EXPECT_EQ(plan.doomed()[0].id, contained.id);
  ASSERT_THAT(plan.stays(), SizeIs(1));
  EXPECT_EQ(plan.stays()[0].interval, cut.interval);
}

TEST(DropPlan, HasADigestThatFollowsTheIdsAndNotTheirOrder) {
  const auto a = MakeSegment(kHour13, "v1");
  const auto b = MakeSegment(kHour13, "v2");
  EXPECT_EQ(PlanOf(kHour13, {a, b}).digest(), PlanOf(kHour13, {b, a}).digest());
  EXPECT_NE(PlanOf(kHour13, {a, b}).digest(), PlanOf(kHour13, {a}).digest());
  // What stays is no part of it.
  const auto day = MakeSegment("2026-07-16/2026-07-17", "v0");
  EXPECT_EQ(PlanOf(kHour13, {a, day}).digest(), PlanOf(kHour13, {a}).digest());
}

TEST(DropPlan, OfTombstonesOnlyLeavesNothingMoreEmpty) {
  auto tombstone = MakeSegment(kHour13, "v2");
  tombstone.shard.type = "tombstone";
  const Plan plan = PlanOf(kHour13, {MakeSegment(kHour13, "v1"), tombstone});
  EXPECT_EQ(plan.doomed().size(), 2u);
  EXPECT_TRUE(plan.manifest[1].tombstone);
  EXPECT_THAT(plan.leaves_empty, IsEmpty()) << "it is empty already";
}

// What stays in the asked time, and what is not there, has no part in its rows.
TEST(DropPlan, CountsTheRowsOfWhatGoesAndNoOthers) {
  const auto cut = MakeSegment("2026-07-16T15:00Z/2026-07-16T16:00Z", "v1");
  const Plan plan = PlanOf("2026-07-16T11:00Z/2026-07-16T15:30Z",
                           {MakeSegment(kHour13, "v1"), MakeSegment(kHour14, "v1"), cut});
  EXPECT_THAT(plan.counted(), ElementsAre(Of("2026-07-16T13:00Z/2026-07-16T15:00Z")));
}

}  // namespace
}  // namespace interlock::drop
