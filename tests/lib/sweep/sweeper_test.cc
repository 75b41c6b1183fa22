#include "lib/sweep/sweeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/sweep/sweeper_fixture.h"

namespace interlock::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_F(SweeperTest, AFindingOpensOnceIsUpdatedWhileItLastsAndClosesByItself) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  FirstRounds();
  auto open = Open();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].observed.verdict, "DOUBLE_VERSION");
  EXPECT_EQ(open[0].observed.reason, "USED_PAST_GRACE");
  EXPECT_EQ(open[0].observed.interval, *Interval::Parse(kHour));
  EXPECT_THAT(open[0].observed.segments, ElementsAre(CannedSegment{kHour, kOld}.id("clicks")));
  EXPECT_THAT(open[0].observed.remedy, HasSubstr("duty"));
  const Instant opened = open[0].opened;

  NextSweep();
  open = Open();
  ASSERT_THAT(open, SizeIs(1)) << "the same finding, once";
  EXPECT_EQ(open[0].opened, opened);
  EXPECT_GT(open[0].seen, opened);
  EXPECT_THAT(opened_, SizeIs(1));

  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
  const auto closed = Open(/*closed=*/true);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].opened, opened);
  EXPECT_GT(*closed[0].closed, opened);
}

TEST_F(SweeperTest, AFindingThatComesAgainIsANewOne) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  FirstRounds();
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty()) << "hidden for some minutes, however old the version above is";
  for (int i = 0; i < 4; ++i) NextSweep();
  EXPECT_THAT(Open(), SizeIs(1));
  EXPECT_THAT(Open(true), SizeIs(1));
  EXPECT_THAT(opened_, SizeIs(2));
}

TEST_F(SweeperTest, ADruidThatDoesNotAnswerOpensNothingAndClosesNothing) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  FirstRounds();
  const Instant swept = *AllSwept()[0].at;
  druid_.down = true;
  NextSweep();
  EXPECT_FALSE(last_.ok());
  EXPECT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(*AllSwept()[0].at, swept) << "a sweep that was not whole counts for none";
  druid_.down = false;
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(SweeperTest, WhatIsGoneAltogetherIsNoLongerWrong) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}, {kNextHour, kNew}};
  FirstRounds();
  druid_.segments["clicks"] = {{kNextHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty()) << "no page reaches there any more";
  druid_.segments["clicks"] = {};
  NextSweep();
  EXPECT_THAT(AllSwept(), IsEmpty()) << "a datasource without segments is not swept";
}

TEST_F(SweeperTest, ADatasourceThatWasFoundAndNeverSweptHasAnAge) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  Round();
  ASSERT_THAT(AllSwept(), SizeIs(1));
  EXPECT_FALSE(AllSwept()[0].at.has_value());
  EXPECT_LE(AllSwept()[0].since(), store_->Now());
}

TEST_F(SweeperTest, WhatIsQuietIsNotReadAgainUntilItsIdsChange) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  FirstRounds();
  EXPECT_EQ(druid_.Asked("/segments?full"), 1);
  NextSweep();
  EXPECT_EQ(druid_.Asked("/segments?full"), 1);
  druid_.segments["clicks"] = {{kHour, kNew}, {kNextHour, kNew}};
  NextSweep();
  EXPECT_EQ(druid_.Asked("/segments?full"), 2);
  // Loading is no matter of ids.
  druid_.unavailable["clicks"] = 1;
  NextSweep();
  EXPECT_EQ(druid_.Asked("/segments?full"), 3);
  ASSERT_FALSE(Open().empty());
  EXPECT_EQ(Open()[0].observed.verdict, "NOT_LOADED");
  EXPECT_EQ(AllSwept()[0].unavailable, 1);
}

TEST_F(SweeperTest, OfManyHoursOnlyTheOneThatIsNotLoadedHasAFinding) {
  druid_.segments["clicks"] = {{kHour, kNew}, {kNextHour, kNew}};
  druid_.not_loaded = {CannedSegment{kNextHour, kNew}.id("clicks")};
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.verdict, "NOT_LOADED");
  EXPECT_EQ(Open()[0].observed.interval, *Interval::Parse(kNextHour));
}

// It lists segments and says 204 of their loading: that is no "all is loaded".
TEST_F(SweeperTest, ALoadStatusThatKnowsNothingLeavesTheSweepUnfinished) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  druid_.knows_loading = false;
  FirstRounds();
  EXPECT_FALSE(AllSwept()[0].at.has_value());
  druid_.knows_loading = true;
  NextSweep();
  EXPECT_TRUE(AllSwept()[0].at.has_value());
}

TEST_F(SweeperTest, ABrokerThatIsDownMakesNoDuplicatesOfLateRows) {
  druid_.segments["clicks"] = {{kHour, kNew, 0, 1, 60'000}, {kHour, kNew, 1, 1, 1'477}};
  druid_.rows[CannedSegment{kHour, kNew}.id("clicks")] = 400;
  druid_.broker_down = true;
  FirstRounds();
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_FALSE(AllSwept()[0].at.has_value()) << "it was not whole";
  druid_.broker_down = false;
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_TRUE(AllSwept()[0].at.has_value());
}

TEST_F(SweeperTest, WhatIsNoLongerChosenIsSweptUntilNothingIsWrongAndThenNoMore) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  druid_.segments["views"] = {{kHour, kNew}};
  FirstRounds();
  patterns_ = {"others"};
  sweeper_ = MakeSweeper();
  NextSweep();
  ASSERT_THAT(AllSwept(), SizeIs(1)) << "what is open must be able to close";
  EXPECT_EQ(AllSwept()[0].datasource, "clicks");
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_THAT(AllSwept(), IsEmpty());
}

TEST_F(SweeperTest, StreamsComeFirst) {
  for (const char* name : {"a", "b", "c", "d", "e"}) druid_.segments[name] = {{kHour, kNew}};
  druid_.streams = {"d"};
  // What is found is due at once where a stream writes it, and within half a minute else.
  EXPECT_THAT(Round(), ElementsAre("d"));
  EXPECT_THAT(Round(), UnorderedElementsAre("a", "b", "c", "e"));
}

TEST_F(SweeperTest, OnlyTheChosenDatasourcesAreSwept) {
  patterns_ = {"click*", "views"};
  sweeper_ = MakeSweeper();
  for (const char* name : {"clicks", "clicks_daily", "views", "views2"}) {
    druid_.segments[name] = {{kHour, kNew}};
  }
  Round();
  EXPECT_THAT(Round(), UnorderedElementsAre("clicks", "clicks_daily", "views"));
}

TEST_F(SweeperTest, TwoReplicasShareTheWorkAndNoneIsDoneTwice) {
  for (const char* name : {"a", "b", "c", "d"}) druid_.segments[name] = {{kHour, kNew}};
  const auto other = MakeSweeper();
  Round();
  clock_.Advance(absl::Minutes(1));
  std::vector<std::string> all;
  for (int i = 0; i < 4; ++i) {
    const auto mine = Round(*sweeper_, 1);
    const auto theirs = Round(*other, 1);
    all.insert(all.end(), mine.begin(), mine.end());
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  EXPECT_THAT(all, UnorderedElementsAre("a", "b", "c", "d"));
}

TEST_F(SweeperTest, ASweepWhoseClaimWasLostKeepsNothing) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  Round();
  clock_.Advance(absl::Minutes(1));
  auto claims = work::ClaimDue(*store_, clock_, {"slow", absl::Seconds(1)}, {kSweepKind}, 1);
  ASSERT_THAT(*claims, SizeIs(1));
  clock_.Advance(absl::Minutes(1));
  auto again = work::ClaimDue(*store_, clock_, {"quick", absl::Seconds(60)}, {kSweepKind}, 1);
  ASSERT_THAT(*again, SizeIs(1));
  EXPECT_FALSE(sweeper_->Step((*claims)[0]).ok());
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(SweeperTest, EqualSumsOfAnAppendAreDuplicatesAndOthersAreLateRows) {
  const CannedSegment core{kHour, kNew, 0, 1, 20'000};
  const CannedSegment appended{kHour, kNew, 1, 1, 19'000};
  druid_.segments["clicks"] = {core, appended};
  druid_.rows[core.id("clicks")] = 100;
  druid_.rows[appended.id("clicks")] = 100;
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.reason, "EQUAL_SUMS");
  EXPECT_THAT(Open()[0].observed.segments, SizeIs(2));
  druid_.rows[appended.id("clicks")] = 3;
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(SweeperTest, Case047AVersionInTheFutureIsAClockThatIsWrong) {
  druid_.segments["clicks"] = {{kHour, "2027-07-16T10:30:00.000Z"}};
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.kind, kClockSkew);
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

TEST(MatchesPattern, AStarIsAnyCharacters) {
  EXPECT_TRUE(MatchesPattern("clicks", "clicks"));
  EXPECT_FALSE(MatchesPattern("clicks", "clicks2"));
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("raw_*_v*", "raw_clicks_v2"));
  EXPECT_FALSE(MatchesPattern("raw_*_v*", "raw_clicks"));
}

}  // namespace
}  // namespace interlock::sweep
