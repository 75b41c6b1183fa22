#include "lib/time/period.h"

#include "gtest/gtest.h"
#include "lib/time/reason.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

Instant At(const char* text) { return Instant::Parse(text).value(); }
Period P(const char* text) { return Period::Parse(text).value(); }

TEST(Period, ReadsEveryFieldAndPrintsItBack) {
  const Period period = P("P1Y2M3W4DT5H6M7.008S");
  EXPECT_EQ(period.years(), 1);
  EXPECT_EQ(period.months(), 2);
  EXPECT_EQ(period.weeks(), 3);
  EXPECT_EQ(period.days(), 4);
  EXPECT_EQ(period.hours(), 5);
  EXPECT_EQ(period.minutes(), 6);
  EXPECT_EQ(period.seconds(), 7);
  EXPECT_EQ(period.millis(), 8);
  EXPECT_EQ(period.ToString(), "P1Y2M3W4DT5H6M7.008S");
}

TEST(Period, HasNegativeFieldsWhereJodaHasThem) {
  EXPECT_EQ(P("P-1DT-0.5S").ToString(), "P-1DT-0.500S");
  EXPECT_EQ(ReasonOf(Period::Parse("-P1D").status()), "PERIOD_MALFORMED");
}

TEST(Period, RefusesFieldsOutOfOrderAndNumbersWithoutAField) {
  for (const char* text :
       {"", "1D", "PT", "P1", "P1D1D", "P1M1Y", "PT1.5H", "P1H", "P99999999999D"}) {
    EXPECT_EQ(ReasonOf(Period::Parse(text).status()), "PERIOD_MALFORMED") << text;
  }
}

TEST(Period, IsFixedWithoutMonthsAndYears) {
  EXPECT_EQ(P("P1DT1H").FixedMillis(), 25 * kMillisPerHour);
  EXPECT_EQ(P("P1W").FixedMillis(), P("P7D").FixedMillis());
  EXPECT_EQ(P("P1M").FixedMillis(), std::nullopt);
  EXPECT_EQ(P("P1YT1S").FixedMillis(), std::nullopt);
}

TEST(Period, OfSevenDaysIsNotThatOfAWeek) { EXPECT_NE(P("P7D"), P("P1W")); }

TEST(Period, OfAMonthEndsOnTheLastDayThatThereIs) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  EXPECT_EQ(P("P1M").AddTo(At("2026-01-31"), utc, 1), At("2026-02-28"));
  EXPECT_EQ(P("P1M").AddTo(At("2026-01-31"), utc, 3), At("2026-04-30"));
  EXPECT_EQ(P("P1M").AddTo(At("2026-03-31"), utc, -1), At("2026-02-28"));
  EXPECT_EQ(P("P1Y").AddTo(At("2024-02-29"), utc, 1), At("2025-02-28"));
}

TEST(Period, OfADayIsTheNextDayOnTheClockWhateverItsLength) {
  const absl::TimeZone zone = LoadZone("America/New_York").value();
  EXPECT_EQ(P("P1D").AddTo(At("2026-03-07T12:00-05:00"), zone, 1), At("2026-03-08T12:00-04:00"));
  EXPECT_EQ(P("PT24H").AddTo(At("2026-03-07T12:00-05:00"), zone, 1), At("2026-03-08T13:00-04:00"));
}

TEST(Period, EndsAfterAGapByAsMuchAsItWouldHaveEndedIntoIt) {
  const absl::TimeZone zone = LoadZone("America/New_York").value();
  EXPECT_EQ(P("P1D").AddTo(At("2026-03-07T02:30-05:00"), zone, 1), At("2026-03-08T03:30-04:00"));
}

TEST(Period, StopsAtTheEndsOfEternity) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  EXPECT_EQ(P("P2147483647Y").AddTo(At("2026"), utc, 1), Instant::kMax);
  EXPECT_EQ(P("P2147483647W").AddTo(At("2026"), utc, INT64_MIN), Instant::kMin);
  EXPECT_EQ(P("PT2147483647H").AddTo(At("2026"), utc, INT64_MAX), Instant::kMax);
}

}  // namespace
}  // namespace interlock
