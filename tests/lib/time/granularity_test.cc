#include "lib/time/granularity.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/reason.h"

namespace interlock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Instant At(const char* text) { return Instant::Parse(text).value(); }
Interval I(const std::string& text) { return Interval::Parse(text).value(); }
Granularity G(const char* name) { return Granularity::FromName(name).value(); }
Granularity G(const char* period, const char* zone) {
  return Granularity::OfPeriod(Period::Parse(period).value(), zone).value();
}
Granularity G(const char* period, const char* zone, const char* origin) {
  return Granularity::OfPeriod(Period::Parse(period).value(), zone, At(origin)).value();
}

TEST(Granularity, OfEachNameCutsAsItSays) {
  const std::map<std::string, std::string> buckets = {
      {"SECOND", "2026-08-20T13:37:42/PT1S"},
      {"MINUTE", "2026-08-20T13:37/PT1M"},
      {"FIVE_MINUTE", "2026-08-20T13:35/PT5M"},
      {"TEN_MINUTE", "2026-08-20T13:30/PT10M"},
      {"FIFTEEN_MINUTE", "2026-08-20T13:30/PT15M"},
      {"THIRTY_MINUTE", "2026-08-20T13:30/PT30M"},
      {"HOUR", "2026-08-20T13/PT1H"},
      {"SIX_HOUR", "2026-08-20T12/PT6H"},
      {"EIGHT_HOUR", "2026-08-20T08/PT8H"},
      {"DAY", "2026-08-20/P1D"},
      {"WEEK", "2026-08-17/P1W"},
      {"MONTH", "2026-08-01/P1M"},
      {"QUARTER", "2026-07-01/P3M"},
      {"YEAR", "2026-01-01/P1Y"},
      {"ALL", Interval::Eternity().ToString()},
      {"NONE", "2026-08-20T13:37:42.123/PT0.001S"},
  };
  for (const auto& [name, bucket] : buckets) {
    EXPECT_EQ(G(name.c_str()).Bucket(At("2026-08-20T13:37:42.123")), I(bucket)) << name;
    EXPECT_EQ(G(name.c_str()).ToString(), name);
  }
}

TEST(Granularity, NamesAreTakenInEitherCaseAndNoOthersAre) {
  EXPECT_EQ(G("hour"), G("HOUR"));
  const absl::Status status = Granularity::FromName("HOURS").status();
  EXPECT_EQ(ReasonOf(status), "GRANULARITY_UNKNOWN");
  EXPECT_THAT(status.message(), HasSubstr("'HOURS' is unknown; SECOND, MINUTE, FIVE_MINUTE"));
}

TEST(Granularity, IsEqualByDefinitionAndNotByWhatItCuts) {
  EXPECT_EQ(G("DAY"), G("P1D", "UTC"));
  EXPECT_EQ(G("DAY"), G("P1D", "Etc/UTC"));
  EXPECT_NE(G("P7D", "UTC"), G("P1W", "UTC"));
  EXPECT_NE(G("P1D", "UTC"), G("P1D", "Europe/London"));
  EXPECT_NE(G("DAY"), Granularity::OfDuration(86400000).value());
}

TEST(Granularity, PrintsWhatItIs) {
  EXPECT_EQ(G("P1D", "UTC").ToString(), "DAY");
  EXPECT_EQ(G("PT2H", "UTC").ToString(), "PT2H");
  EXPECT_EQ(G("P1D", "America/New_York").ToString(), "P1D in America/New_York");
  EXPECT_EQ(G("P7D", "America/Denver", "2022-03-27T08:35Z").ToString(),
            "P7D in America/Denver from 2022-03-27T08:35:00.000Z");
  EXPECT_EQ(Granularity::OfDuration(5000).value().ToString(), "duration 5000 ms");
}

TEST(Granularity, RefusesPeriodsWithoutLengthAndUnknownZones) {
  const auto reason = [](const char* period, const char* zone) {
    return ReasonOf(Granularity::OfPeriod(Period::Parse(period).value(), zone).status());
  };
  EXPECT_EQ(reason("PT0S", "UTC"), "PERIOD_NOT_POSITIVE");
  EXPECT_EQ(reason("P1DT-1H", "UTC"), "PERIOD_NOT_POSITIVE");
  for (const char* zone :
       {"", "Mars/Olympus", "america/new_york", "utc", "localtime", "/etc/passwd",
        "../zoneinfo/UTC", "posix/UTC", "right/UTC", "Fixed/UTC+01:00:00", "UTC+2", "+25:00"}) {
    EXPECT_EQ(reason("P1D", zone), "TIME_ZONE_UNKNOWN") << zone;
  }
}

TEST(Granularity, RefusesWhatOnlyWalkingWouldFind) {
  const auto reason = [](const char* period, const char* zone, const char* origin) {
    return ReasonOf(
        Granularity::OfPeriod(Period::Parse(period).value(), zone, At(origin)).status());
  };
  EXPECT_EQ(reason("P1M1D", "UTC", "2026"), "GRANULARITY_UNSUPPORTED");
  EXPECT_EQ(reason("P1DT12H", "Europe/London", "2026"), "GRANULARITY_UNSUPPORTED");
  EXPECT_EQ(reason("P1M", "UTC", "2026-01-31"), "GRANULARITY_UNSUPPORTED");
  EXPECT_EQ(reason("P2147483647Y", "UTC", "2026"), "GRANULARITY_UNSUPPORTED");
  EXPECT_EQ(reason("P1DT12H", "UTC", "2026"), "");
  EXPECT_EQ(reason("P1M", "UTC", "2026-01-28"), "");
}

TEST(Granularity, FloorsToTheStartAndCeilsToTheNext) {
  const Granularity day = G("DAY");
  EXPECT_EQ(day.Floor(At("2026-07-16T13")), At("2026-07-16"));
  EXPECT_EQ(day.Ceil(At("2026-07-16T13")), At("2026-07-17"));
  EXPECT_EQ(day.Ceil(At("2026-07-16")), At("2026-07-16"));
}

TEST(Granularity, WidensAndShrinksToWholeBuckets) {
  const Granularity day = G("DAY");
  const Interval ragged = I("2026-07-16T13/2026-07-19T02");
  EXPECT_FALSE(day.Aligned(ragged));
  EXPECT_EQ(day.Widen(ragged), I("2026-07-16/2026-07-20"));
  EXPECT_EQ(day.Shrink(ragged), I("2026-07-17/2026-07-19"));
  EXPECT_EQ(day.Shrink(I("2026-07-16T13/2026-07-17T02")), std::nullopt);
  const Interval whole = I("2026-07-16/2026-07-19");
  EXPECT_TRUE(day.Aligned(whole));
  EXPECT_FALSE(day.IsBucket(whole));
  EXPECT_EQ(day.Widen(whole), whole);
  EXPECT_EQ(day.Shrink(whole), whole);
}

TEST(Granularity, NamesTheNearestAlignedIntervals) {
  const absl::Status status = G("HOUR").CheckAligned(I("2026-07-16T13:30/2026-07-16T15:30"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), "MISALIGNED");
  EXPECT_THAT(status.message(),
              HasSubstr("2026-07-16T13:00:00.000Z/2026-07-16T15:00:00.000Z or "
                        "2026-07-16T14:00:00.000Z/2026-07-16T16:00:00.000Z or "
                        "2026-07-16T13:00:00.000Z/2026-07-16T16:00:00.000Z would do"));
}

TEST(Granularity, CountsWhatAnIntervalTouches) {
  EXPECT_EQ(G("DAY").Count(I("2026-07-16T13/2026-07-19T02"), 4).value(), 4);
  EXPECT_EQ(G("DAY").Count(I("2026-07-16/2026-07-19"), 3).value(), 3);
  EXPECT_EQ(G("DAY").Count(I("2026-07-16/2026-07-16"), 0).value(), 0);
  EXPECT_EQ(G("MONTH").Count(I("2026-01-31/2026-03-02"), 10).value(), 3);
  EXPECT_EQ(G("ALL").Count(I("2026/2027"), 10).value(), 1);
}

TEST(Granularity, ListsPartitionsOfAlignedIntervalsOnly) {
  EXPECT_THAT(G("DAY").Partitions(I("2026-07-16/2026-07-18"), 2).value(),
              ElementsAre(I("2026-07-16/P1D"), I("2026-07-17/P1D")));
  EXPECT_EQ(ReasonOf(G("DAY").Partitions(I("2026-07-16/2026-07-18"), 1).status()),
            "TOO_MANY_PARTITIONS");
  EXPECT_EQ(ReasonOf(G("DAY").Partitions(I("2026-07-16/2026-07-17T01"), 10).status()),
            "MISALIGNED");
  EXPECT_THAT(G("DAY").Partitions(I("2026-07-16/2026-07-16"), 1).value(), ElementsAre());
}

TEST(Granularity, HasADayOf23HoursAndOneOf25WhereTheClocksChange) {
  const Granularity day = G("P1D", "America/New_York");
  EXPECT_EQ(day.Bucket(At("2026-03-08T12Z")), I("2026-03-08T05Z/PT23H"));
  EXPECT_EQ(day.Bucket(At("2026-11-01T12Z")), I("2026-11-01T04Z/PT25H"));
  EXPECT_EQ(day.Partitions(I("2026-03-08T05Z/2026-03-10T04Z"), 10).value().size(), 2u);
}

// In Sao Paulo the clocks went from 0:00 to 1:00 on 2017-10-15: Druid's day from there
// ends at 1:00 of the next, inside of the next day.
TEST(Granularity, RefusesPartitionsThatDruidWouldCutOtherwise) {
  const Granularity day = G("P1D", "America/Sao_Paulo");
  const Interval gap_day = I("2017-10-15T03Z/2017-10-16T02Z");
  EXPECT_TRUE(day.IsBucket(gap_day));
  EXPECT_FALSE(day.DruidAgrees(gap_day));
  EXPECT_EQ(ReasonOf(day.Partitions(gap_day, 10).status()), "GRANULARITY_UNSUPPORTED");
  EXPECT_TRUE(day.Partitions(I("2017-10-16T02Z/2017-10-18T02Z"), 10).ok());
}

TEST(Granularity, OfADurationCountsFromTheEpoch) {
  const Granularity day = Granularity::OfDuration(86400000).value();
  EXPECT_EQ(day.Bucket(At("1969-06-01T10")), I("1969-06-01/P1D"));
  EXPECT_EQ(ReasonOf(Granularity::OfDuration(0).status()), "GRANULARITY_UNSUPPORTED");
  EXPECT_EQ(ReasonOf(Granularity::OfDuration(INT64_MAX).status()), "GRANULARITY_UNSUPPORTED");
}

// Nesting, on the real buckets: whether each of some thousand buckets lies in one of the
// other's, compared with the arithmetic.
std::vector<Granularity> ManyGranularities() {
  std::vector<Granularity> all;
  for (const char* name :
       {"SECOND", "MINUTE", "FIVE_MINUTE", "FIFTEEN_MINUTE", "THIRTY_MINUTE", "HOUR", "SIX_HOUR",
        "EIGHT_HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "ALL", "NONE"}) {
    all.push_back(G(name));
  }
  for (const char* zone : {"America/New_York", "Asia/Kolkata", "Asia/Shanghai", "+05:30"}) {
    for (const char* period : {"PT1M", "PT1H", "P1D", "P1W", "P1M", "P1Y", "P2M"}) {
      all.push_back(G(period, zone));
    }
  }
  for (const char* period : {"PT1H", "PT2H", "P1D", "P7D", "P1M", "P3M"}) {
    all.push_back(G(period, "UTC", "2020-02-01T00:30"));
  }
  all.push_back(G("P7D", "UTC", "2020-02-03"));
  all.push_back(G("P3M", "UTC", "2020-02-01"));
  return all;
}

// Whether buckets of `fine` near bounds of `coarse` stick out of its buckets.
bool NestsAsFarAsSeen(const Granularity& fine, const Granularity& coarse, std::mt19937& random) {
  const int64_t first = At("1980").millis(), last = At("2039").millis();
  for (int n = 0; n < 60; ++n) {
    const Instant at =
        Instant::FromMillis(first + static_cast<int64_t>(random()) * 1000 % (last - first));
    for (const Instant bound : {coarse.Bucket(at).start(), coarse.Bucket(at).end()}) {
      if (coarse.is_all()) continue;
      if (fine.Floor(bound) != bound) return false;
    }
  }
  return true;
}

TEST(Granularity, NestsWhereItsBucketsDo) {
  constexpr unsigned kSeed = 20260716;
  std::mt19937 random(kSeed);
  for (const Granularity& fine : ManyGranularities()) {
    for (const Granularity& coarse : ManyGranularities()) {
      const bool nests = NestsAsFarAsSeen(fine, coarse, random);
      // Of two zones it may say no: years of Shanghai never begin in its summer time.
      if (nests && fine.zone() != coarse.zone()) continue;
      EXPECT_EQ(fine.FinerOrEqual(coarse), nests) << fine << " in " << coarse << ", seed " << kSeed;
    }
  }
}

TEST(Granularity, OfUtcNestsInAZoneWhereItsOffsetsAllow) {
  EXPECT_TRUE(G("HOUR").FinerOrEqual(G("P1D", "America/New_York")));
  EXPECT_TRUE(G("HOUR").FinerOrEqual(G("P1M", "America/New_York")));
  EXPECT_TRUE(G("HOUR").FinerOrEqual(G("PT1H", "America/New_York")));
  EXPECT_TRUE(G("PT1H", "America/New_York").FinerOrEqual(G("DAY")));
  EXPECT_TRUE(G("THIRTY_MINUTE").FinerOrEqual(G("P1D", "Asia/Kolkata")));
  EXPECT_FALSE(G("HOUR").FinerOrEqual(G("P1D", "Asia/Kolkata")));
  EXPECT_FALSE(G("SIX_HOUR").FinerOrEqual(G("P1D", "America/New_York")));
}

TEST(Granularity, OfTwoNamesForOneZoneNestsBothWays) {
  EXPECT_TRUE(G("P1D", "US/Eastern").FinerOrEqual(G("P1D", "America/New_York")));
  EXPECT_FALSE(G("P1D", "US/Eastern").Crosses(G("P1D", "America/New_York")));
}

TEST(Granularity, CountsAtTheEndsOfEternityWithoutOverflow) {
  for (const Granularity& granularity : ManyGranularities()) {
    if (granularity.is_all()) continue;
    for (const Instant end : {Instant::kMin, Instant::kMax}) {
      const Interval bucket = granularity.Bucket(end);
      EXPECT_TRUE(bucket.Contains(end)) << granularity;
    }
    EXPECT_EQ(ReasonOf(granularity.Count(Interval::Eternity(), 10000).status()),
              "TOO_MANY_PARTITIONS")
        << granularity;
  }
}

}  // namespace
}  // namespace interlock
