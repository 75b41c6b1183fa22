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

std::string Hour(int hour) {
  const Instant start = *Instant::Parse("2026-07-16") + absl::Hours(hour);
  return Interval::Between(start, start + absl::Hours(1)).ToString();
}

// Of 24 hours one is not loaded: the others are no worse for it.
TEST_F(LookTest, OnlyWhatIsNotLoadedIsNotLoaded) {
  std::vector<CannedSegment> hours;
  for (int hour = 0; hour < 24; ++hour) hours.push_back({Hour(hour), kNew});
  druid_.segments["clicks"] = hours;
  druid_.not_loaded = {hours[17].id("clicks")};
  question_.interval = *Interval::Parse("2026-07-16/P1D");
  for (const bool thorough : {true, false}) {
    question_.thorough = thorough;
    if (!thorough) {
      for (int hour = 0; hour < 24; ++hour) {
        question_.partitions.push_back(*Interval::Parse(Hour(hour)));
      }
    }
    const int before = druid_.Asked("/loadstatus");
    const auto look = At();
    ASSERT_TRUE(look.ok()) << look.status();
    for (const auto& verdict : look->verdicts) {
      EXPECT_EQ(verify::Has(verdict.findings, verify::Verdict::kNotLoaded),
                verdict.partition == *Interval::Parse(Hour(17)))
          << verdict.partition.ToString();
    }
    EXPECT_LE(druid_.Asked("/loadstatus") - before, 12) << "halved, and not one by one";
  }
}

TEST_F(LookTest, WhereNothingIsLoadedOneQuestionTells) {
  question_.thorough = false;
  question_.partitions = {*Interval::Parse(kHour), *Interval::Parse(kNextHour)};
  druid_.unavailable["clicks"] = 2;
  const auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_EQ(druid_.Asked("/loadstatus"), 1);
  for (const auto& verdict : look->verdicts) EXPECT_EQ(verdict.unloaded_segments, 1);
}

TEST_F(LookTest, RowsOfAStreamWhereNoSegmentIsAreNotEmpty) {
  const char* later = "2026-07-16T20/2026-07-16T21";
  question_.interval = *Interval::Parse(later);
  druid_.totals[absl::StrCat("clicks ", later)] = R"({"rows":30})";
  const auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(look->verdicts.front().undetermined());
  EXPECT_EQ(look->verdicts.front().unpublished_rows, 30);
}

// Loaded, and the broker still has the version before: its rows prove nothing of this one.
TEST_F(LookTest, ABrokerThatDoesNotKnowTheVersionYetProvesNothing) {
  question_.interval = *Interval::Parse(kHour);
  druid_.rows[CannedSegment{kHour, kNew}.id("clicks")] = 0;
  for (const int64_t expected : {7, 8}) {
    ExpectRows(expected);
    const auto look = At();
    ASSERT_TRUE(look.ok()) << look.status();
    EXPECT_TRUE(look->verdicts.front().undetermined()) << expected;
    EXPECT_EQ(look->verdicts.front().findings.back().reason, "BROKER_BEHIND");
  }
  // Half of the hour may be without rows.
  question_.interval = *Interval::Parse("2026-07-16T10:00/2026-07-16T10:30");
  druid_.totals["clicks 2026-07-16T10:00/2026-07-16T10:30"] = R"({"rows":0})";
  EXPECT_TRUE(verify::Has(At()->verdicts.front().findings, verify::Verdict::kMissingRows));
}

TEST_F(LookTest, AllOfTimeIsAnsweredByWhatIsThere) {
  question_.interval = Interval::Eternity();
  const auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  ASSERT_THAT(look->verdicts, SizeIs(4)) << "before, two hours, after";
  EXPECT_EQ(look->verdicts[1].partition, *Interval::Parse(kHour));
  EXPECT_FALSE(look->calendar.has_value());
}

TEST_F(LookTest, ASignThatCouldNotBeWeighedIsNeitherAFaultNorNone) {
  const CannedSegment late{kHour, kNew, 1, 1, 1'477};
  druid_.segments["clicks"] = {{kHour, kNew, 0, 1, 60'000}, late, {kNextHour, kNew}};
  question_.thorough = false;
  question_.partitions = {*Interval::Parse(kHour), *Interval::Parse(kNextHour)};
  druid_.broker_down = true;
  auto look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(look->verdicts[0].undetermined());
  EXPECT_FALSE(look->not_weighed.empty());
  druid_.broker_down = false;
  // Of the other hour something is not loaded: these can be weighed.
  druid_.not_loaded = {CannedSegment{kNextHour, kNew}.id("clicks")};
  look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(look->verdicts[0].good()) << "late rows";
  druid_.not_loaded = {late.id("clicks")};
  look = At();
  ASSERT_TRUE(look.ok()) << look.status();
  EXPECT_TRUE(verify::Has(look->verdicts[0].findings, verify::Verdict::kUndetermined));
  EXPECT_TRUE(look->not_weighed.empty()) << "Druid has answered";
}

}  // namespace
}  // namespace interlock::sweep
