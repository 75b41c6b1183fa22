#include "lib/store/store_clock.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/fake_clock.h"

namespace interlock::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreClockTest : public ::testing::Test {
 protected:
  // A clock as a process finds it that starts now, over what the last one has stored.
  std::unique_ptr<StoreClock> Start() {
    auto started = std::make_unique<StoreClock>(
        clock_, stored_, [this](absl::Duration by) { jumps_.push_back(by); });
    Mark(*started);
    return started;
  }
  void Mark(StoreClock& clock) {
    const auto mark = clock.MarkFor(clock.Now());
    if (!mark.has_value()) return;
    stored_ = mark;
    clock.Stored(*mark);
  }

  FakeClock clock_;
  std::optional<ClockFacts> stored_;
  std::vector<absl::Duration> jumps_;
};

TEST_F(StoreClockTest, StartsWithTheWallClock) { EXPECT_EQ(Start()->Now(), clock_.Now()); }

TEST_F(StoreClockTest, FollowsTheMonotonicClockWhateverTheWallClockDoes) {
  const auto started = Start();
  const Instant start = started->Now();
  clock_.Advance(absl::Seconds(5));
  clock_.StepWall(-absl::Hours(1));
  started->Watch();
  EXPECT_EQ(started->Now(), start + absl::Seconds(5));
  clock_.StepWall(absl::Hours(7));
  started->Watch();
  started->Watch();
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(started->Now(), start + absl::Seconds(10));
  EXPECT_THAT(jumps_, ElementsAre(-absl::Hours(1), absl::Hours(7)));
  EXPECT_EQ(started->jumps(), 2);
}

TEST_F(StoreClockTest, CallsASmallStepDrift) {
  const auto started = Start();
  clock_.StepWall(StoreClock::kJump);
  started->Watch();
  EXPECT_THAT(jumps_, IsEmpty());
}

TEST_F(StoreClockTest, KnowsTheDowntimeExactlyWithinOneBoot) {
  const Instant start = Start()->Now();
  clock_.Advance(absl::Milliseconds(1));
  clock_.StepWall(-absl::Hours(50));
  EXPECT_EQ(Start()->Now(), start + absl::Milliseconds(1));
  clock_.Advance(absl::Hours(100));
  clock_.StepWall(absl::Hours(3));
  EXPECT_EQ(Start()->Now(), start + absl::Milliseconds(1) + absl::Hours(100));
}

TEST_F(StoreClockTest, TakesTheWallClockAfterAReboot) {
  Start();
  clock_.Reboot(absl::Minutes(3));
  EXPECT_EQ(Start()->Now(), clock_.Now());
  EXPECT_THAT(jumps_, IsEmpty());
}

TEST_F(StoreClockTest, NeverGoesBelowTheMarkAndReportsTheJump) {
  const auto before = Start();
  clock_.Advance(absl::Minutes(5));
  Mark(*before);
  const Instant last = before->Now();
  clock_.Reboot(absl::Minutes(1));
  clock_.StepWall(-absl::Hours(2));
  const auto after = Start();
  EXPECT_GE(after->Now(), last);
  EXPECT_EQ(after->Now(), last + StoreClock::kMarkAhead);
  EXPECT_THAT(jumps_, ElementsAre(-(absl::Hours(2) - absl::Minutes(1) + StoreClock::kMarkAhead)));
  EXPECT_EQ(after->jumps(), 1);
  clock_.Advance(absl::Seconds(9));
  EXPECT_EQ(after->Now(), last + StoreClock::kMarkAhead + absl::Seconds(9));
}

TEST_F(StoreClockTest, WantsAMarkOnceASecondAtMost) {
  const auto started = Start();
  EXPECT_FALSE(started->MarkFor(started->Now()).has_value());
  clock_.Advance(StoreClock::kMarkAhead);
  EXPECT_FALSE(started->MarkFor(started->Now()).has_value());
  clock_.Advance(absl::Milliseconds(1));
  ASSERT_TRUE(started->MarkFor(started->Now()).has_value());
  EXPECT_EQ(started->MarkFor(started->Now())->mark, started->Now() + StoreClock::kMarkAhead);
}

// A container can see another monotonic clock under the same boot id.
TEST_F(StoreClockTest, DoesNotTrustABootThatContradictsTheMark) {
  const auto started = Start();
  clock_.Advance(absl::Hours(1));
  Mark(*started);
  stored_->offset_ms -= absl::ToInt64Milliseconds(absl::Hours(2));
  EXPECT_GE(Start()->Now(), started->Now());
}

}  // namespace
}  // namespace interlock::store
