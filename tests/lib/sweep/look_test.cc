// Names that Druid does not know: its answers to them look like answers.
#include "lib/sweep/look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/time/status_reason.h"
#include "tests/lib/sweep/canned_druid.h"

namespace interlock::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kHour[] = "2026-07-16T10/2026-07-16T11";
constexpr char kNextHour[] = "2026-07-16T11/2026-07-16T12";
constexpr char kTwoHours[] = "2026-07-16T10/2026-07-16T12";
constexpr char kNew[] = "2026-07-16T12:30:00.000Z";

class LookTest : public ::testing::Test {
 protected:
  LookTest() {
    druid_.segments["clicks"] = {{kHour, kNew}, {kNextHour, kNew}};
    druid_.totals[absl::StrCat("clicks ", kHour)] = R"({"rows":7,"m0":40,"m1":400})";
    druid_.totals[absl::StrCat("clicks ", kNextHour)] = R"({"rows":3,"m0":20,"m1":200})";
    druid_.rows[CannedSegment{kHour, kNew}.id("clicks")] = 7;
    druid_.rows[CannedSegment{kNextHour, kNew}.id("clicks")] = 3;
    question_.datasource = "clicks";
    question_.interval = *Interval::Parse(kTwoHours);
    question_.now = *Instant::Parse("2026-07-16T13");
  }
  absl::StatusOr<Look> At() { return LookAt(druid_.cluster(), question_); }
  // Of the only thing that is told of the first partition.
  verify::Finding First() {
    auto look = At();
    EXPECT_TRUE(look.ok()) << look.status();
    return look.ok() ? look->verdicts.front().findings.front() : verify::Finding();
  }
  void ExpectRows(int64_t rows) {
    question_.expected = [rows](const Interval&, size_t) {
      Expectation expectation;
      expectation.rows = rows;
      return expectation;
    };
  }

  CannedDruid druid_;
  LookQuestion question_;
};

TEST_F(LookTest, RowsAreCountedByTheMetric) {
  question_.count_metric = "events";
  question_.interval = *Interval::Parse(kHour);
  ExpectRows(40);
  const auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(look->verdicts.front().good());
  EXPECT_EQ(look->verdicts.front().unloaded_segments, 0);
}

TEST_F(LookTest, AMisspeltMetricIsBadInputThatNamesTheColumnsThereAre) {
  question_.count_metric = "evnts";
  ExpectRows(40);
  const auto status = At().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), "UNKNOWN_METRIC");
  EXPECT_THAT(std::string(status.message()), HasSubstr("evnts"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("adds up: events"));
}

TEST_F(LookTest, AMisspeltSumIsBadInputThatNamesItsField) {
  question_.sums = {{"snet", "expect/sums/0/metric"}};
  const auto status = At().status();
  EXPECT_EQ(ReasonOf(status), "UNKNOWN_METRIC");
  EXPECT_THAT(std::string(status.message()), HasSubstr("expect/sums/0/metric: 'snet'"));
}

TEST_F(LookTest, AColumnOfTextCountsNothing) {
  druid_.columns = R"({"__time":{"type":"LONG"},"site":{"type":"STRING"}})";
  question_.count_metric = "site";
  EXPECT_EQ(ReasonOf(At().status()), "METRIC_NOT_NUMERIC");
}

TEST_F(LookTest, ColumnsThatNobodyShowsAreUndetermined) {
  druid_.columns = "{}";
  question_.count_metric = "evnts";
  EXPECT_EQ(First().verdict, verify::Verdict::kUndetermined);
  EXPECT_EQ(First().reason, "COLUMNS_NOT_TOLD");
}

TEST_F(LookTest, BeforeAllIsLoadedAColumnMayBeYetToCome) {
  druid_.unavailable["clicks"] = 1;
  druid_.columns = "{}";
  question_.count_metric = "evnts";
  const auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(verify::Has(look->verdicts.front().findings, verify::Verdict::kNotLoaded));
}

TEST_F(LookTest, ADatasourceThatDruidDoesNotKnowIsNotGood) {
  question_.datasource = "clikcs";
  EXPECT_EQ(First().verdict, verify::Verdict::kUndetermined);
  EXPECT_EQ(First().reason, "UNKNOWN_DATASOURCE");
  EXPECT_THAT(First().evidence, HasSubstr("clikcs"));
  EXPECT_THAT(First().next, HasSubstr("check the name"));
}

TEST_F(LookTest, OneWhoseSegmentsAreAllUnusedIsKnownAndEmpty) {
  question_.datasource = "dropped";
  druid_.unused = {"dropped"};
  EXPECT_EQ(First().verdict, verify::Verdict::kEmpty);
}

TEST_F(LookTest, AnHourWithoutSegmentsOfAKnownDatasourceIsEmpty) {
  question_.interval = *Interval::Parse("2026-07-16T20/2026-07-16T21");
  EXPECT_EQ(First().verdict, verify::Verdict::kEmpty);
}

TEST_F(LookTest, Case015RowsOfAStreamThatAreNotPublishedAreToldApart) {
  question_.interval = *Interval::Parse(kHour);
  ExpectRows(3);  // stored rows; 7 are served
  EXPECT_TRUE(verify::Has(At()->verdicts.front().findings, verify::Verdict::kDuplicateRows));
  druid_.rows[CannedSegment{kHour, kNew}.id("clicks")] = 3;
  const auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(look->verdicts.front().undetermined());
  EXPECT_EQ(look->verdicts.front().unpublished_rows, 4);
}

TEST_F(LookTest, AnotherDatasourceWithTheSameSumsIsAProof) {
  druid_.segments["copy"] = druid_.segments["clicks"];
  druid_.totals[absl::StrCat("copy ", kHour)] = R"({"rows":9,"m0":40})";
  druid_.totals[absl::StrCat("copy ", kNextHour)] = R"({"rows":9,"m0":20})";
  question_.same_as = "copy";
  auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  for (const auto& verdict : look->verdicts) EXPECT_TRUE(verdict.good());
  ASSERT_THAT(look->verdicts[0].checks, SizeIs(1));
  EXPECT_EQ(look->verdicts[0].checks[0].measure, "events");
  EXPECT_EQ(look->verdicts[0].checks[0].source, verify::RowSource::kDatasource);

  druid_.totals[absl::StrCat("copy ", kNextHour)] = R"({"rows":9,"m0":21})";
  look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(look->verdicts[0].good());
  EXPECT_TRUE(verify::Has(look->verdicts[1].findings, verify::Verdict::kMissingRows));
}

TEST_F(LookTest, AnotherDatasourceThatIsNotThereOrNotLoadedProvesNothing) {
  question_.same_as = "cpoy";
  auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(look->verdicts[0].undetermined());
  EXPECT_EQ(look->verdicts[0].findings.back().reason, "UNKNOWN_DATASOURCE");
  druid_.segments["copy"] = druid_.segments["clicks"];
  druid_.unavailable["copy"] = 1;
  question_.same_as = "copy";
  look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_EQ(look->verdicts[0].findings.back().reason, "SAME_AS_NOT_LOADED");
}

}  // namespace
}  // namespace interlock::sweep
