#include "lib/time/clock.h"

#include "gtest/gtest.h"
#include "lib/time/fake_clock.h"

namespace interlock {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(FakeClock, StandsStillUntilItIsMoved) {
  FakeClock clock;
  EXPECT_EQ(clock.Now().ToString(), "2026-07-16T13:00:00.000Z");
  EXPECT_EQ(clock.Now(), clock.Now());
  EXPECT_EQ(clock.Monotonic(), clock.Monotonic());
}

TEST(FakeClock, AdvanceMovesBothClocks) {
  FakeClock clock(Instant::FromMillis(1000));
  clock.Advance(absl::Seconds(2));
  EXPECT_EQ(clock.Now(), Instant::FromMillis(3000));
  EXPECT_EQ(clock.Monotonic(), seconds(2));
}

TEST(FakeClock, StepsBelowAMillisecondAddUpOnTheWall) {
  FakeClock clock(Instant::FromMillis(0));
  for (int i = 0; i < 10; ++i) clock.Advance(absl::Microseconds(300));
  EXPECT_EQ(clock.Now(), Instant::FromMillis(3));
  EXPECT_EQ(clock.Monotonic(), milliseconds(3));
}

TEST(FakeClock, StepWallLeavesTheMonotonicClockAlone) {
  FakeClock clock(Instant::FromMillis(1000));
  clock.StepWall(absl::Hours(-1));
  EXPECT_EQ(clock.Now(), Instant::FromMillis(1000 - 3600000));
  EXPECT_EQ(clock.Monotonic(), seconds(0));
}

TEST(FakeClock, RebootChangesTheBootIdAndStartsTheMonotonicClockAnew) {
  FakeClock clock(Instant::FromMillis(0));
  const std::string before = clock.BootId();
  clock.Advance(absl::Seconds(5));
  clock.Reboot(absl::Minutes(1));
  EXPECT_NE(clock.BootId(), before);
  EXPECT_EQ(clock.Monotonic(), seconds(0));
  EXPECT_EQ(clock.Now(), Instant::FromMillis(65000));
}

TEST(SystemClock, NeverRunsBackwardsWithinABoot) {
  const SystemClock clock;
  const auto first = clock.Monotonic();
  EXPECT_GE(clock.Monotonic(), first);
  EXPECT_GT(first.count(), 0);
}

TEST(SystemClock, OfOneBootHasOneId) {
  EXPECT_EQ(SystemClock().BootId(), SystemClock().BootId());
  EXPECT_FALSE(SystemClock().BootId().empty());
}

}  // namespace
}  // namespace interlock
