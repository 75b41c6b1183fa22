// Rows and sums against what they should be: of one partition, and of all together.
#include "lib/verify/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/verify/partition.h"
#include "tests/lib/verify/made_segments.h"

namespace interlock::verify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kHour[] = "2026-07-16T13:00:00Z/2026-07-16T14:00:00Z";
constexpr char kNew[] = "2026-07-16T14:50:00.000Z";

Expected Sum(const std::string& metric, double value, bool whole = true) {
  Expected expected;
  expected.measure = metric;
  expected.value = value;
  expected.whole = whole;
  expected.from = "the caller";
  return expected;
}

Counted Part(double rows, double sent) {
  Counted counted;
  counted.rows = rows;
  counted.sums["sent"] = sent;
  return counted;
}

TEST(Compare, WholeSumsExactlyAndOthersWithinABillionth) {
  EXPECT_EQ(Compare(Sum("sent", 9007199254740990.0), 9007199254740991.0).result, Comparison::kMore);
  EXPECT_EQ(Compare(Sum("cost", 10.0, false), 10.0 + 1e-9).result, Comparison::kEqual);
  EXPECT_EQ(Compare(Sum("cost", 10.0, false), 10.0 + 1e-7).result, Comparison::kMore);
  EXPECT_EQ(Compare(Sum("cost", -10.0, false), -11.0).result, Comparison::kFewer);
  EXPECT_EQ(Compare(Sum("cost", 10.0), std::nullopt).result, Comparison::kUnknown);
}

TEST(JudgeTotal, IsProvenAsATotalWhateverThePartitionsHave) {
  const Total total =
      JudgeTotal({Part(40, 400), Part(0, 0), Part(20, 200)}, {Sum(kRows, 60), Sum("sent", 600)});
  EXPECT_THAT(total.findings, IsEmpty());
  ASSERT_THAT(total.checks, SizeIs(2));
  EXPECT_EQ(total.checks[0].result, Comparison::kEqual);
  EXPECT_EQ(total.checks[0].counted, 60);
}

TEST(JudgeTotal, NamesBothFiguresOfWhatDiffers) {
  const Total total =
      JudgeTotal({Part(40, 400), Part(40, 100)}, {Sum(kRows, 40), Sum("sent", 501)});
  ASSERT_THAT(Names(total.findings), ElementsAre("DUPLICATE_ROWS", "MISSING_ROWS"));
  EXPECT_THAT(total.findings[0].evidence, HasSubstr("80 rows, and 40 are expected by the caller"));
  EXPECT_THAT(total.findings[1].evidence,
              HasSubstr("a sum of sent of 500, and 501 is expected by the caller"));
}

TEST(JudgeTotal, OfAPartThatCouldNotBeCountedIsUndetermined) {
  const Total total = JudgeTotal({Part(40, 400), Counted()}, {Sum(kRows, 40)});
  ASSERT_THAT(Names(total.findings), ElementsAre("UNDETERMINED"));
  EXPECT_EQ(total.findings[0].reason, "ROWS_NOT_COUNTED");
}

class PartitionRowsTest : public testing::Test {
 protected:
  PartitionRowsTest() : snapshot_(SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)})) {
    question_.partition = Of(kHour);
    question_.now = At("2026-07-16T15:00:00Z");
    question_.count_metric = "events";
    snapshot_.rows = {Rows(kHour, 7, 40)};
    snapshot_.rows[0].sums["sent"] = 400;
  }
  PartitionVerdict Ask() {
    return VerifyPartition(druid::Timeline::Of(snapshot_.used), snapshot_, question_);
  }

  druid::Snapshot snapshot_;
  PartitionQuestion question_;
};

TEST_F(PartitionRowsTest, APartOfATotalIsCountedAndCalledSo) {
  question_.part_of_total = true;
  const PartitionVerdict verdict = Ask();
  EXPECT_THAT(Names(verdict.findings), ElementsAre("SINGLE_VERSION"));
  EXPECT_THAT(verdict.findings[0].evidence, HasSubstr("40 rows, a part of the total"));
  ASSERT_THAT(verdict.checks, SizeIs(1));
  EXPECT_EQ(verdict.checks[0].result, Comparison::kPartOfTotal);
  EXPECT_EQ(verdict.checks[0].counted, 40);
  snapshot_.rows.clear();
  EXPECT_TRUE(Ask().undetermined()) << "a total of what was not counted is none";
}

TEST_F(PartitionRowsTest, SumsAreComparedBesideRows) {
  question_.expected_rows = 40;
  question_.expected = {Sum("sent", 400)};
  EXPECT_TRUE(Ask().good());
  question_.expected = {Sum("sent", 401)};
  EXPECT_THAT(Names(Ask().findings), ElementsAre("SINGLE_VERSION", "MISSING_ROWS"));
  EXPECT_THAT(Ask().checks, SizeIs(2));
}

TEST_F(PartitionRowsTest, AtLeastSoManyRows) {
  question_.min_rows = 40;
  EXPECT_TRUE(Ask().good());
  question_.min_rows = 41;
  const PartitionVerdict verdict = Ask();
  EXPECT_THAT(Names(verdict.findings), testing::Contains("MISSING_ROWS"));
  EXPECT_FALSE(verdict.good());
}

// Druid sums a column that is not there to 0: no rows are missing, they are not countable.
TEST_F(PartitionRowsTest, AMetricThatThePartitionLacksIsUndeterminedAndNoMissingRows) {
  question_.expected_rows = 40;
  question_.count_metric_is_there = false;
  snapshot_.rows = {Rows(kHour, 7, 0)};
  const PartitionVerdict verdict = Ask();
  EXPECT_TRUE(verdict.undetermined());
  EXPECT_EQ(verdict.findings.back().reason, "METRIC_NOT_THERE");
  EXPECT_THAT(verdict.findings.back().evidence, HasSubstr("events"));
}

TEST_F(PartitionRowsTest, CompactionOfWhatWasProvenIsJudgedByItsRows) {
  snapshot_.used[0].compacted = true;
  question_.expected_version = "2026-07-16T14:10:00.000Z";
  question_.expected = {Sum(kRows, 40)};
  EXPECT_TRUE(Ask().good());
  question_.expected = {Sum(kRows, 39)};
  EXPECT_FALSE(Ask().good());
  snapshot_.used[0].compacted = false;
  EXPECT_THAT(Names(Ask().findings), testing::Contains("FOREIGN_WRITE"));
}

TEST_F(PartitionRowsTest, WhatIsLoadedIsAllButWhatDruidCountsAsNot) {
  PartitionVerdict verdict = Ask();
  EXPECT_EQ(LoadedSegments(verdict, 3), std::nullopt) << "nobody asked";
  verdict.unloaded_segments = 2;
  EXPECT_EQ(LoadedSegments(verdict, 3), 1);
  verdict.visible_versions = {"a", "b"};
  EXPECT_EQ(LoadedSegments(verdict, 3), std::nullopt) << "Druid does not say of which version";
  verdict.unloaded_segments = 0;
  EXPECT_EQ(LoadedSegments(verdict, 3), 3);
}

TEST_F(PartitionRowsTest, FewerStoredRowsOfWhatWasRolledUpAreNoMissingRows) {
  question_.count_metric = "";
  question_.expected_rows = 40;
  PartitionVerdict verdict = Ask();
  EXPECT_THAT(Names(verdict.findings), testing::Contains("MISSING_ROWS"));
  TellRolledUp(&verdict);
  EXPECT_TRUE(verdict.undetermined());
  EXPECT_EQ(verdict.findings.back().reason, "ROLLED_UP");
  question_.expected_rows = 6;  // more than came in is too many, rolled up or not
  verdict = Ask();
  TellRolledUp(&verdict);
  EXPECT_THAT(Names(verdict.findings), testing::Contains("DUPLICATE_ROWS"));
}

// A stream's segment was upgraded to another number while it was published: for a while both
// are served, and rows count twice (apache/druid#15813, #16144).
TEST_F(PartitionRowsTest, Case015RowsThatAStreamHasNotPublishedMakeADifferenceUndetermined) {
  question_.expected_rows = 300;
  snapshot_.rows = {Rows(kHour, 600, 600)};
  PartitionVerdict verdict = Ask();
  EXPECT_THAT(Names(verdict.findings), testing::Contains("DUPLICATE_ROWS"));
  TellRealtimeApart(300, &verdict);
  EXPECT_TRUE(verdict.undetermined());
  EXPECT_EQ(verdict.findings.back().reason, "REALTIME_ROWS");
  EXPECT_EQ(verdict.unpublished_rows, 300);
  EXPECT_EQ(ReachedLevel(verdict.findings, Level::kServed), Level::kServed);

  verdict = Ask();
  TellRealtimeApart(600, &verdict);
  EXPECT_FALSE(verdict.undetermined()) << "all of it is published: it is doubled";
  snapshot_.rows = {Rows(kHour, 300, 300)};
  verdict = Ask();
  TellRealtimeApart(200, &verdict);
  EXPECT_TRUE(verdict.good()) << "as expected, whoever serves them";
}

TEST_F(PartitionRowsTest, RowsThatAreServedWhereNoSegmentIsSeenAreNotEmpty) {
  question_.expected_rows = 30;
  snapshot_.used.clear();
  snapshot_.rows = {Rows(kHour, 30, 30)};
  PartitionVerdict verdict = Ask();
  EXPECT_THAT(Names(verdict.findings), ElementsAre("EMPTY"));
  TellRealtimeApart(0, &verdict);
  EXPECT_TRUE(verdict.undetermined()) << "queries read them";
  EXPECT_EQ(verdict.checks[0].result, Comparison::kUnknown);
  snapshot_.rows = {Rows(kHour, 0, 0)};
  question_.expected_rows = 0;
  verdict = Ask();
  TellRealtimeApart(0, &verdict);
  EXPECT_TRUE(verdict.good());
}

TEST_F(PartitionRowsTest, WhatABrokerCountsThatDoesNotKnowTheSegmentsIsUndetermined) {
  question_.expected_rows = 40;
  PartitionVerdict verdict = Ask();
  EXPECT_TRUE(verdict.good());
  TellBrokerBehind(&verdict);
  EXPECT_TRUE(verdict.undetermined()) << "it counted the version before";
  EXPECT_EQ(verdict.findings.back().reason, "BROKER_BEHIND");
  question_.expected_rows = 41;
  verdict = Ask();
  TellBrokerBehind(&verdict);
  EXPECT_TRUE(verdict.undetermined()) << "no row is missing yet";
}

// Refunds that ran twice are further below zero.
TEST(FindingOf, ASumFurtherBelowZeroIsOfDuplicates) {
  const auto verdict = [](double counted) {
    return FindingOf(Compare(Sum("refunds", -10), counted), "")->verdict;
  };
  EXPECT_EQ(verdict(-20), Verdict::kDuplicateRows);
  EXPECT_EQ(verdict(-5), Verdict::kMissingRows);
}

TEST(JudgeTotal, Case015WithRowsThatAreNotPublishedIsUndetermined) {
  Counted open = Part(40, 400);
  open.unpublished = true;
  EXPECT_THAT(Names(JudgeTotal({open, Part(20, 0)}, {Sum(kRows, 40)}).findings),
              ElementsAre("UNDETERMINED"));
  EXPECT_THAT(JudgeTotal({open, Part(20, 0)}, {Sum(kRows, 60)}).findings, IsEmpty());
}

std::vector<Finding> Found(Verdict verdict, const std::string& reason = "") {
  return {MakeFinding(Verdict::kSingleVersion, "seen"),
          MakeFinding(verdict, "seen", {}, 1, reason)};
}

TEST(ReachedLevel, IsAsFarAsTheVersionsHaveGotWhateverTheRowsSay) {
  EXPECT_EQ(ReachedLevel(Found(Verdict::kMissingRows), Level::kServed), Level::kServed);
  EXPECT_EQ(ReachedLevel(Found(Verdict::kUndetermined, "ROWS_NOT_COUNTED"), Level::kServed),
            Level::kServed);
  EXPECT_EQ(ReachedLevel(Found(Verdict::kNotLoaded), Level::kRetired), Level::kVisible);
  EXPECT_EQ(ReachedLevel(Found(Verdict::kNotRetired), Level::kRetired), Level::kServed);
  EXPECT_EQ(ReachedLevel(Found(Verdict::kPartiallyCovered), Level::kServed), std::nullopt);
  EXPECT_EQ(ReachedLevel(Found(Verdict::kUndetermined, "STALE_SNAPSHOT"), Level::kServed),
            std::nullopt);
  EXPECT_EQ(ReachedLevel({}, Level::kServed), std::nullopt);
}

}  // namespace
}  // namespace interlock::verify
