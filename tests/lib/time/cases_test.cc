// The field cases that lib/time decides. Each test bears the number of its case.
#include <algorithm>
#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/granularity.h"
#include "lib/time/interval.h"
#include "lib/time/reason.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMaxPartitions = 10'000;

Instant At(const char* text) { return Instant::Parse(text).value(); }
Interval I(const char* text) { return Interval::Parse(text).value(); }
Granularity Named(const char* name) { return Granularity::FromName(name).value(); }
Granularity OfPeriod(const char* period, const char* zone) {
  return Granularity::OfPeriod(Period::Parse(period).value(), zone).value();
}

// The quickest of several, since others use the machine too.
std::chrono::nanoseconds QuickestRefusal(const Granularity& granularity, const Interval& interval) {
  std::chrono::nanoseconds quickest = std::chrono::hours(1);
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const auto partitions = granularity.Partitions(interval, kMaxPartitions);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(partitions.status().code(), absl::StatusCode::kOutOfRange) << granularity;
    EXPECT_EQ(ReasonOf(partitions.status()), "TOO_MANY_PARTITIONS") << granularity;
    quickest = std::min<std::chrono::nanoseconds>(quickest, took);
  }
  return quickest;
}

// Eternity by day: refused before anything is enumerated, or all memory is gone.
TEST(Case023, EternityByDayIsRefusedByArithmetic) {
  const Interval eternity = I("-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z");
  for (const Granularity& granularity :
       {Named("DAY"), Named("MONTH"), Named("SECOND"), OfPeriod("P1D", "America/New_York"),
        OfPeriod("PT1H", "Australia/Lord_Howe")}) {
    EXPECT_LT(QuickestRefusal(granularity, eternity), std::chrono::milliseconds(1)) << granularity;
  }
  EXPECT_THAT(Named("DAY").Count(eternity, kMaxPartitions).status().message(),
              HasSubstr("at least 106751991168 partitions of DAY, more than the limit of 10000"));
}

TEST(Case025, AllHasOnePartitionAndTakesNoPartOfIt) {
  const Granularity all = Named("ALL");
  EXPECT_EQ(all.Partitions(Interval::Eternity(), 1).value().size(), 1u);
  const absl::Status part = all.Partitions(I("2020-01-01/2021-01-01"), 10).status();
  EXPECT_EQ(part.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(part.message(), HasSubstr("-146136543-09-08T08:23:32.096Z/"));
}

// Weeks over a month stick out on both sides: locking only February loses January's end.
TEST(Case026, WeeksOverAMonthAreWidenedAndSaidSo) {
  const Granularity week = Named("WEEK");
  const Interval february = I("2015-02-01/2015-03-01");
  EXPECT_FALSE(week.Aligned(february));
  EXPECT_EQ(week.Widen(february), I("2015-01-26/2015-03-02"));
  const absl::Status status = week.CheckAligned(february);
  EXPECT_EQ(ReasonOf(status), "MISALIGNED");
  EXPECT_THAT(status.message(), HasSubstr("2015-01-26T00:00:00.000Z/2015-03-02T00:00:00.000Z"));
}

TEST(Case027, AWeekThatCrossesTheEndOfAMonthIsSeen) {
  EXPECT_TRUE(Named("WEEK").Crosses(Named("MONTH")));
  EXPECT_FALSE(Named("HOUR").Crosses(Named("MONTH")));
  EXPECT_FALSE(Named("DAY").Crosses(Named("WEEK")));
  const Interval week = Named("WEEK").Bucket(At("2023-11-29"));
  const Interval month = Named("MONTH").Bucket(At("2023-12-18"));
  EXPECT_TRUE(week.Crosses(month));
  EXPECT_FALSE(I("2023-12-16T00/2023-12-16T01").Crosses(month));
}

TEST(Case030, DaysOfNewYorkAreACalendarOfTheirOwn) {
  const Granularity day = OfPeriod("P1D", "America/New_York");
  EXPECT_TRUE(day.Aligned(I("2020-06-01T04:00Z/2020-06-02T04:00Z")));
  EXPECT_TRUE(day.Aligned(I("2020-01-01T05:00Z/2020-01-02T05:00Z")));
  const absl::Status utc_day = day.CheckAligned(I("2020-06-01/2020-06-02"));
  EXPECT_EQ(ReasonOf(utc_day), "MISALIGNED");
  EXPECT_THAT(utc_day.message(), HasSubstr("2020-05-31T04:00:00.000Z/2020-06-01T04:00:00.000Z or "
                                           "2020-06-01T04:00:00.000Z/2020-06-02T04:00:00.000Z"));
}

TEST(Case031, DaysOfShanghaiCrossDaysOfUtc) {
  const Granularity shanghai = OfPeriod("P1D", "Asia/Shanghai");
  EXPECT_TRUE(shanghai.Crosses(Named("DAY")));
  EXPECT_TRUE(Named("HOUR").FinerOrEqual(shanghai));
  EXPECT_TRUE(shanghai.Bucket(At("2020-06-01T20Z")).Crosses(I("2020-06-01/P1D")));
}

TEST(Case032, ADurationWithAnOriginIsUnsupported) {
  const absl::Status status =
      Granularity::OfDuration(86400000, At("1970-01-01T18:19:00Z")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ReasonOf(status), "GRANULARITY_UNSUPPORTED");
  EXPECT_TRUE(Granularity::OfDuration(86400000, At("1970-01-01")).ok());
  // A whole number of days from the epoch makes no difference.
  EXPECT_TRUE(Granularity::OfDuration(86400000, At("2026-07-16")).ok());
}

// Computed from the origin in one step: nothing drifts after a change of the clocks.
TEST(Case034, WeeksFromAnOriginKeepTheirHourOverAllChangesOfTheClocks) {
  const absl::TimeZone zone = LoadZone("America/Denver").value();
  for (const char* origin : {"2022-03-27T02:35-06:00", "2022-03-13T02:35-07:00"}) {
    const auto week = Granularity::OfPeriod(Period::Days(7), "America/Denver", At(origin));
    const int64_t hour = LocalOf(At(origin), zone) % kMillisPerDay;
    for (Instant at = At("1990"); at < At("2040"); at += absl::Hours(13)) {
      const Interval bucket = week->Bucket(at);
      ASSERT_LE(bucket.start(), at);
      ASSERT_LT(at, bucket.end());
      ASSERT_EQ(week->Floor(bucket.end()), bucket.end()) << at;
      const int64_t local = LocalOf(bucket.start(), zone);
      ASSERT_TRUE(local % kMillisPerDay == hour || InGap(local - kMillisPerHour, zone)) << at;
    }
  }
}

TEST(Case034, TheBucketOfTheReportStartsWhereItsOriginSays) {
  const auto week =
      Granularity::OfPeriod(Period::Days(7), "America/Denver", At("2022-03-27T02:35-06:00"));
  EXPECT_EQ(week->Bucket(At("2022-03-06T02:40-07:00")),
            I("2022-03-06T02:35-07:00/2022-03-13T03:35-06:00"));
}

// A query that must answer the same over any segments asks by UTC instants: a day's ends.
TEST(Case038, ADayOfAZoneIsAnIntervalOfUtcInstants) {
  const Granularity day = OfPeriod("P1D", "America/Denver");
  EXPECT_EQ(day.Bucket(At("2022-03-13T12Z")).ToString(),
            "2022-03-13T07:00:00.000Z/2022-03-14T06:00:00.000Z");
  // From an origin inside the gap Druid's own days overlap: refused.
  const auto gap =
      Granularity::OfPeriod(Period::Days(1), "America/Denver", At("2022-03-12T02:30-07:00"));
  const Interval days = gap->Widen(I("2022-03-12T09:30Z/2022-03-14T08:30Z"));
  EXPECT_EQ(ReasonOf(gap->Partitions(days, 10).status()), "GRANULARITY_UNSUPPORTED");
}

TEST(Case046, AnIntervalWithOffsetsIsUtcAndCutsTwoUtcDays) {
  const Interval interval = I("2018-01-02T00:00:00+08:00/2018-01-03T00:00:00+08:00");
  EXPECT_EQ(interval.ToString(), "2018-01-01T16:00:00.000Z/2018-01-02T16:00:00.000Z");
  EXPECT_EQ(ReasonOf(Named("DAY").CheckAligned(interval)), "MISALIGNED");
  EXPECT_EQ(Named("DAY").Count(interval, 10).value(), 2);
}

// The design decides: without an offset it is UTC, and what is printed says so.
TEST(Case134, AnInstantWithoutAnOffsetIsPrintedAsTheUtcItWasTakenFor) {
  EXPECT_EQ(At("2026-07-16T13:00").ToString(), "2026-07-16T13:00:00.000Z");
  EXPECT_EQ(I("2026-07-16T13/PT1H").ToString(),
            "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
}

TEST(Case139, OneIntervalHasOneFormHoweverItWasWritten) {
  const Interval canonical = I("2026-07-16T00:00Z/2026-07-17T00:00Z");
  for (const char* text : {"2026-07-16T00:00+00:00/2026-07-17T00:00+00:00", "2026-07-16/P1D",
                           "2026-07-15T20:00-04:00/2026-07-16T20:00-04:00",
                           "2026-07-16T02+0200/2026-07-17T00:00:00.000Z"}) {
    EXPECT_EQ(I(text), canonical) << text;
    EXPECT_EQ(I(text).ToString(), canonical.ToString()) << text;
  }
}

}  // namespace
}  // namespace interlock
