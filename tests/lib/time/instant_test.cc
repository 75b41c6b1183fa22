#include "lib/time/instant.h"

#include <string>

#include "absl/hash/hash_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/reason.h"

namespace interlock {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kNoon = 1784203200000;  // 2026-07-16T12:00:00.000Z

int64_t Millis(const std::string& text) { return Instant::Parse(text).value().millis(); }

TEST(Instant, WithoutAnOffsetIsUtc) {
  EXPECT_EQ(Millis("2026-07-16T12:00"), kNoon);
  EXPECT_EQ(Millis("2026-07-16T12:00Z"), kNoon);
}

TEST(Instant, WithAnOffsetIsTheSameMomentInUtc) {
  EXPECT_EQ(Millis("2026-07-16T14:00:00.000+02:00"), kNoon);
  EXPECT_EQ(Millis("2026-07-16T14:00+0200"), kNoon);
  EXPECT_EQ(Millis("2026-07-16T14+02"), kNoon);
  EXPECT_EQ(Millis("2026-07-16T08:30:00-03:30"), kNoon);
}

TEST(Instant, MayLeaveOutItsLastFields) {
  EXPECT_EQ(Instant::Parse("2026").value().ToString(), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(Instant::Parse("2026-07").value().ToString(), "2026-07-01T00:00:00.000Z");
  EXPECT_EQ(Instant::Parse("2026-07-16").value().ToString(), "2026-07-16T00:00:00.000Z");
  EXPECT_EQ(Instant::Parse("2026-07-16T13").value().ToString(), "2026-07-16T13:00:00.000Z");
}

TEST(Instant, MayBeAWeekDateOrAnOrdinalDate) {
  EXPECT_EQ(Instant::Parse("2026-W29-4").value().ToString(), "2026-07-16T00:00:00.000Z");
  EXPECT_EQ(Instant::Parse("2026-197").value().ToString(), "2026-07-16T00:00:00.000Z");
}

TEST(Instant, MayBeANumberOfMillisecondsWhereItIsNoYear) {
  EXPECT_EQ(Millis("1784203200000"), kNoon);
  EXPECT_EQ(Instant::Parse("2026").value().ToString(), "2026-01-01T00:00:00.000Z");
}

TEST(Instant, PrintsYearsAsJodaDoes) {
  EXPECT_EQ(Instant::kMin.ToString(), "-146136543-09-08T08:23:32.096Z");
  EXPECT_EQ(Instant::kMax.ToString(), "146140482-04-24T15:36:27.903Z");
  EXPECT_EQ(Instant::Parse("-1").value().ToString(), "-0001-01-01T00:00:00.000Z");
  EXPECT_EQ(Instant::Parse("0").value().ToString(), "0000-01-01T00:00:00.000Z");
}

TEST(Instant, RefusalSaysWhereItStoppedAndWhatWouldDo) {
  const absl::Status status = Instant::Parse("2026-07-16 13:00").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), "INSTANT_MALFORMED");
  EXPECT_THAT(status.message(), HasSubstr("'2026-07-16 13:00' stops making sense at byte 10"));
  EXPECT_THAT(status.message(), HasSubstr("2026-07-16T13:00Z"));
}

TEST(Instant, RefusesDaysThatDoNotExist) {
  for (const char* text : {"2026-02-29", "2026-13-01", "2026-00", "2025-W53", "2026-366",
                           "2026-07-16T24:00", "2026-07-16T13:60"}) {
    EXPECT_EQ(ReasonOf(Instant::Parse(text).status()), "INSTANT_MALFORMED") << text;
  }
}

TEST(Instant, RefusesWhatLiesOutsideOfEternity) {
  for (const char* text : {"200000000-01-01", "-200000000-01-01", "9223372036854775807"}) {
    EXPECT_EQ(ReasonOf(Instant::Parse(text).status()), "INSTANT_OUTSIDE_ETERNITY") << text;
  }
}

TEST(Instant, RefusalDoesNotRepeatAMegabyte) {
  const absl::Status status = Instant::Parse(std::string(1 << 20, 'x')).status();
  EXPECT_LT(status.message().size(), 400u);
}

TEST(Instant, SumsStopAtTheEndsOfEternity) {
  EXPECT_EQ(Instant::kMax + absl::Milliseconds(1), Instant::kMax);
  EXPECT_EQ(Instant::kMin - absl::InfiniteDuration(), Instant::kMin);
  EXPECT_EQ(Instant::kMax - Instant::kMin,
            absl::Milliseconds(Instant::kMax.millis() - Instant::kMin.millis()));
}

TEST(Instant, SumsAreExactAndCutTowardsThePast) {
  const Instant noon = Instant::FromMillis(kNoon);
  EXPECT_EQ((noon + absl::Microseconds(1999)).millis(), kNoon + 1);
  EXPECT_EQ((noon - absl::Microseconds(1)).millis(), kNoon - 1);
  EXPECT_EQ((noon + absl::Hours(1)) - noon, absl::Hours(1));
}

TEST(Instant, ComparesAndHashesByItsMoment) {
  const Instant a = Instant::FromMillis(1), b = Instant::FromMillis(2);
  EXPECT_LT(a, b);
  EXPECT_EQ(a, Instant::FromMillis(1));
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly({a, b, Instant(), Instant::kMax}));
}

}  // namespace
}  // namespace interlock
