// Each spec of tests/specs leads to what its README says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "lib/backfill/spec.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kIntervals[] = "/spec/dataSchema/granularitySpec/intervals";

Interval Hours(const char* text) { return *Interval::Parse(text); }

TEST(SpecFiles, HourRangeIsAcceptedAndKeepsItsIdAsALabel) {
  const SpecCheck check = CheckSpec(SpecFile("hour-range.json"), {});
  ASSERT_TRUE(check.spec) << Faults(check);
  EXPECT_EQ(check.spec->label, "fix_page_views_20260716T13");
  EXPECT_THAT(check.spec->json, Not(HasSubstr("fix_page_views")));
  EXPECT_EQ(check.spec->datasource, "page_views");
  EXPECT_THAT(check.spec->intervals,
              ElementsAre(Hours("2026-07-16T13:00:00Z/2026-07-16T14:00:00Z")));
  EXPECT_EQ(check.spec->row_rule, RowRule::kCountMetric);
  EXPECT_EQ(check.spec->count_metric, "events");
  EXPECT_THAT(check.warnings, IsEmpty());
}

TEST(SpecFiles, DayHashedIsAcceptedAndItsInputDoesNotNarrow) {
  const SpecCheck check = CheckSpec(SpecFile("day-hashed.json"), {});
  ASSERT_TRUE(check.spec) << Faults(check);
  EXPECT_FALSE(check.spec->narrows);
}

TEST(SpecFiles, DayPlaceholderIsAcceptedAndItsInputNarrows) {
  const SpecCheck check = CheckSpec(SpecFile("day-placeholder.json"), {});
  ASSERT_TRUE(check.spec) << Faults(check);
  EXPECT_TRUE(check.spec->narrows);
}

TEST(SpecFiles, ReindexIsAcceptedAndComparedByTheSumsOfWhatItReads) {
  const SpecCheck check = CheckSpec(SpecFile("reindex-druid.json"), {});
  ASSERT_TRUE(check.spec) << Faults(check);
  EXPECT_TRUE(check.spec->narrows);
  EXPECT_TRUE(check.spec->reads_itself());
  EXPECT_EQ(check.spec->row_rule, RowRule::kSourceSums);
  EXPECT_THAT(check.spec->sums,
              ElementsAre(std::pair<std::string, std::string>("events", "events"),
                          std::pair<std::string, std::string>("sent_bytes", "sent_bytes")));
  // Its timestampSpec names `ts`, which no segment has.
  ASSERT_EQ(check.warnings.size(), 1u);
  EXPECT_EQ(check.warnings[0].pointer, "/spec/dataSchema/timestampSpec/column");
}

TEST(SpecFiles, AppendIsRefusedWithThreeFaultsAtOnceAndMended) {
  const SpecCheck check = CheckSpec(SpecFile("append.json"), {});
  EXPECT_FALSE(check.spec);
  EXPECT_THAT(FaultPointers(check),
              ElementsAre("/spec/ioConfig/appendToExisting", "/spec/ioConfig/dropExisting",
                          "/spec/tuningConfig/forceGuaranteedRollup"));
  const SpecCheck mended = CheckSpec(check.corrected, {});
  EXPECT_TRUE(mended.spec) << Faults(mended);
}

TEST(SpecFiles, NoIntervalsIsRefusedTogetherWithDropExisting) {
  const SpecCheck check = CheckSpec(SpecFile("no-intervals.json"), {});
  EXPECT_THAT(FaultPointers(check), ElementsAre(kIntervals, "/spec/ioConfig/dropExisting"));
}

TEST(SpecFiles, NoIntervalsIsAcceptedWithAnInterval) {
  CheckOptions options;
  options.intervals = {Hours("2026-07-16T13:00:00Z/2026-07-16T14:00:00Z")};
  const SpecCheck check = CheckSpec(SpecFile("no-intervals.json"), options);
  ASSERT_TRUE(check.spec) << Faults(check);
  EXPECT_THAT(check.spec->intervals, ElementsAre(options.intervals[0]));
  EXPECT_THAT(check.spec->json,
              HasSubstr("\"intervals\":[\"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z\"]"));
}

TEST(SpecFiles, UnalignedIsRefusedWithTheHourAroundItAndWhatWouldBeLost) {
  const SpecCheck check = CheckSpec(SpecFile("unaligned.json"), {});
  ASSERT_EQ(check.faults.size(), 1u) << Faults(check);
  EXPECT_EQ(check.faults[0].pointer, std::string(kIntervals) + "/0");
  EXPECT_THAT(check.faults[0].would_do,
              HasSubstr("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"));
  EXPECT_THAT(check.faults[0].would_do, HasSubstr("no whole partition lies inside"));
  EXPECT_THAT(check.faults[0].found, HasSubstr("would be lost"));
}

TEST(SpecFiles, UnalignedIsWidenedOnlyWithConsent) {
  CheckOptions options;
  options.accept_widening = true;
  const SpecCheck check = CheckSpec(SpecFile("unaligned.json"), options);
  ASSERT_TRUE(check.spec) << Faults(check);
  EXPECT_TRUE(check.spec->widened);
  EXPECT_THAT(check.spec->intervals,
              ElementsAre(Hours("2026-07-16T13:00:00Z/2026-07-16T14:00:00Z")));
}

TEST(SpecFiles, DynamicRangeIsRefusedWithThreeFaultsAtOnce) {
  const SpecCheck check = CheckSpec(SpecFile("dynamic-range.json"), {});
  EXPECT_THAT(FaultPointers(check),
              ElementsAre("/spec/dataSchema/granularitySpec/segmentGranularity",
                          "/spec/tuningConfig/partitionsSpec/maxRowsPerSegment",
                          "/spec/tuningConfig/forceGuaranteedRollup"));
}

TEST(SpecFiles, SupervisorsAndKillsAreNoBackfillsAndSaySoOnce) {
  for (const char* name : {"kafka-skip.json", "kafka-late.json", "kill-quarter.json"}) {
    const SpecCheck check = CheckSpec(SpecFile(name), {});
    EXPECT_THAT(FaultPointers(check), ElementsAre("/type")) << name;
  }
}

}  // namespace
}  // namespace interlock::backfill
