#include "lib/drop/clocks.h"

#include <gtest/gtest.h>

#include "tests/lib/drop/segments.h"

namespace interlock::drop {
namespace {

constexpr absl::Duration kSkew = absl::Seconds(5);
const Instant kMarkedAt = At("2026-08-01T12:00:00Z");
const Readings kAtMark{kMarkedAt, kMarkedAt, kMarkedAt};

Readings After(absl::Duration store, absl::Duration wall, absl::Duration druid) {
  return {kMarkedAt + store, kMarkedAt + wall, kMarkedAt + druid};
}

Window Judge(const Readings& now, absl::Duration length = absl::Hours(72)) {
  std::string why;
  const Window window = JudgeWindow(kAtMark, length, now, kSkew, &why);
  EXPECT_EQ(window == Window::kUnclear, !why.empty());
  return window;
}

TEST(Clocks, EndAWindowOnlyTogether) {
  const absl::Duration length = absl::Hours(72);
  const absl::Duration ms = absl::Milliseconds(1);
  EXPECT_EQ(Judge(After(length, length, length)), Window::kOver);
  EXPECT_EQ(Judge(After(length - ms, length, length)), Window::kRuns);
  EXPECT_EQ(Judge(After(length, length - ms, length)), Window::kRuns);
  EXPECT_EQ(Judge(After(length, length, length - ms)), Window::kRuns);
}

TEST(Clocks, ThatDisagreeEndNothing) {
  const absl::Duration length = absl::Hours(72);
  const absl::Duration hour = absl::Hours(1);
  EXPECT_EQ(Judge(After(length + hour, length, length)), Window::kUnclear);
  EXPECT_EQ(Judge(After(length, length + hour, length)), Window::kUnclear);
  EXPECT_EQ(Judge(After(length, length, length + hour)), Window::kUnclear);
  EXPECT_EQ(Judge(After(length, length, length - hour)), Window::kUnclear);
}

TEST(Clocks, WithoutDruidsDateEndNothing) {
  Readings now = After(absl::Hours(80), absl::Hours(80), absl::Hours(80));
  now.druid.reset();
  EXPECT_EQ(Judge(now), Window::kUnclear);
}

// All three jumped between the mark and now, together, and agree: nothing to tell it by
// but the lengths, and these are equal. One that jumped alone and back is seen here.
TEST(Clocks, ThatAgreeNowButDisagreeAboutTheLengthEndNothing) {
  const Instant now = kMarkedAt + absl::Hours(72);
  const Readings at_mark{kMarkedAt, kMarkedAt - absl::Hours(2), kMarkedAt};
  std::string why;
  EXPECT_EQ(JudgeWindow(at_mark, absl::Hours(72), {now, now, now}, kSkew, &why), Window::kUnclear);
  EXPECT_NE(why, "");
}

TEST(Clocks, MayDifferByTheAllowedSkewAndTheGrainOfTheHeader) {
  const absl::Duration over = absl::Hours(73);
  EXPECT_EQ(Judge(After(over, over + kSkew, over - kSkew - absl::Seconds(1))), Window::kOver);
}

TEST(Clocks, JudgeAgeByTheOneFurthestBehind) {
  const Instant end = At("2026-07-01");
  const Instant now = At("2026-07-15");
  const absl::Duration floor = absl::Hours(24 * 14);
  const Instant before = now - absl::Milliseconds(1);
  EXPECT_TRUE(OlderThan(end, floor, {now, now, now}));
  EXPECT_FALSE(OlderThan(end, floor, {before, now, now}));
  EXPECT_FALSE(OlderThan(end, floor, {now, before, now}));
  EXPECT_FALSE(OlderThan(end, floor, {now, now, before}));
}

}  // namespace
}  // namespace interlock::drop
