#include "lib/time/duration.h"

#include <random>

#include "gtest/gtest.h"
#include "lib/time/reason.h"

namespace interlock {
namespace {

absl::Duration D(const char* text) { return ParseDuration(text).value(); }

TEST(Duration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(D("10m"), absl::Minutes(10));
  EXPECT_EQ(D("72h"), absl::Hours(72));
  EXPECT_EQ(D("14d"), absl::Hours(14 * 24));
  EXPECT_EQ(D("2w"), absl::Hours(14 * 24));
  EXPECT_EQ(D("1h30m"), absl::Minutes(90));
  EXPECT_EQ(D("1.5h"), absl::Minutes(90));
  EXPECT_EQ(D("250ms"), absl::Milliseconds(250));
  EXPECT_EQ(D("1m250ms"), absl::Minutes(1) + absl::Milliseconds(250));
  EXPECT_EQ(D("0"), absl::ZeroDuration());
  EXPECT_EQ(D("-5s"), absl::Seconds(-5));
}

TEST(Duration, ReadsPeriodsOfFixedLength) {
  EXPECT_EQ(D("P2D"), absl::Hours(48));
  EXPECT_EQ(D("PT10M"), absl::Minutes(10));
  EXPECT_EQ(D("P1W"), absl::Hours(7 * 24));
}

TEST(Duration, RefusesWhatHasNoUnitOrNoLength) {
  for (const char* text : {"", "10", "m", "10 m", "10x", "1m1h", "1m1m", "1.h", ".5h", "P1M", "P1Y",
                           "1h-5m", "9999999999999h", "--1h", "1H"}) {
    const absl::Status status = ParseDuration(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(ReasonOf(status), "DURATION_MALFORMED") << text;
  }
}

TEST(Duration, PrintsTheShortestForm) {
  EXPECT_EQ(interlock::FormatDuration(absl::Minutes(90)), "1h30m");
  EXPECT_EQ(interlock::FormatDuration(absl::Hours(72)), "3d");
  EXPECT_EQ(interlock::FormatDuration(absl::Milliseconds(1500)), "1s500ms");
  EXPECT_EQ(interlock::FormatDuration(absl::Microseconds(250)), "0.25ms");
  EXPECT_EQ(interlock::FormatDuration(absl::ZeroDuration()), "0s");
  EXPECT_EQ(interlock::FormatDuration(absl::Minutes(-5)), "-5m");
  EXPECT_EQ(interlock::FormatDuration(absl::InfiniteDuration()), "inf");
}

TEST(Duration, ReadsBackWhatItPrints) {
  constexpr unsigned kSeed = 20260716;
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 5000; ++round) {
    const auto nanos = static_cast<int64_t>(random() >> (1 + random() % 60));
    const absl::Duration duration = absl::Nanoseconds(round % 2 ? nanos : -nanos);
    const std::string text = interlock::FormatDuration(duration);
    ASSERT_EQ(ParseDuration(text).value(), duration) << text << ", seed " << kSeed;
  }
}

}  // namespace
}  // namespace interlock
