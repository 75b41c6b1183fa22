#include "lib/simulator/lock_box.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace interlock::simulator {
namespace {

const Instant kNow = *Instant::Parse("2026-07-16T13:00:00Z");

Interval Hours(int from, int to) {
  const Instant day = *Instant::Parse("2026-07-16");
  return *Interval::Of(day + absl::Hours(from), day + absl::Hours(to));
}

TEST(LockBox, TwoGroupsNeverHoldOverlappingTime) {
  LockBox box;
  EXPECT_TRUE(box.TryAcquire("a", "ds", {Hours(13, 15)}, 50, kNow));
  EXPECT_FALSE(box.TryAcquire("b", "ds", {Hours(14, 16)}, 50, kNow));
  EXPECT_TRUE(box.TryAcquire("b", "ds", {Hours(15, 16)}, 50, kNow));
  EXPECT_TRUE(box.TryAcquire("b", "other", {Hours(14, 16)}, 50, kNow));
}

TEST(LockBox, AllOfTheIntervalsOrNone) {
  LockBox box;
  ASSERT_TRUE(box.TryAcquire("a", "ds", {Hours(14, 15)}, 50, kNow));
  EXPECT_FALSE(box.TryAcquire("b", "ds", {Hours(13, 14), Hours(14, 15)}, 50, kNow));
  EXPECT_EQ(box.Covering("b", "ds", Hours(13, 14)), nullptr);
}

TEST(LockBox, OnlyAStrictlyHigherPriorityRevokes) {
  LockBox box;
  ASSERT_TRUE(box.TryAcquire("a", "ds", {Hours(13, 14)}, 50, kNow));
  EXPECT_FALSE(box.TryAcquire("b", "ds", {Hours(13, 14)}, 50, kNow));
  EXPECT_FALSE(box.Revoked("a"));
  EXPECT_TRUE(box.TryAcquire("b", "ds", {Hours(13, 14)}, 51, kNow));
  EXPECT_TRUE(box.Revoked("a"));
  EXPECT_EQ(box.Covering("a", "ds", Hours(13, 14)), nullptr);
}

TEST(LockBox, AHigherPriorityThatCannotHaveAllRevokesNothing) {
  LockBox box;
  ASSERT_TRUE(box.TryAcquire("low", "ds", {Hours(13, 14)}, 10, kNow));
  ASSERT_TRUE(box.TryAcquire("high", "ds", {Hours(14, 15)}, 90, kNow));
  EXPECT_FALSE(box.TryAcquire("b", "ds", {Hours(13, 15)}, 50, kNow));
  EXPECT_FALSE(box.Revoked("low"));
}

TEST(LockBox, TheVersionIsTheLocksTimeAndNoTwoShareOne) {
  LockBox box;
  ASSERT_TRUE(box.TryAcquire("a", "ds", {Hours(13, 14), Hours(15, 16)}, 50, kNow));
  EXPECT_EQ(box.locks()[0].version, "2026-07-16T13:00:00.000Z");
  EXPECT_EQ(box.locks()[1].version, "2026-07-16T13:00:00.001Z");
  box.Release("a");
  ASSERT_TRUE(box.TryAcquire("b", "ds", {Hours(13, 14)}, 50, kNow));
  EXPECT_EQ(box.locks()[0].version, "2026-07-16T13:00:00.002Z");
  // A clock set back makes a lower version, as it does in Druid.
  ASSERT_TRUE(box.TryAcquire("c", "ds", {Hours(15, 16)}, 50, kNow - absl::Hours(1)));
  EXPECT_EQ(box.locks()[1].version, "2026-07-16T12:00:00.000Z");
}

TEST(LockBox, AGroupKeepsItsLockAndVersionWhenItAsksAgain) {
  LockBox box;
  ASSERT_TRUE(box.TryAcquire("a", "ds", {Hours(13, 15)}, 50, kNow));
  ASSERT_TRUE(box.TryAcquire("a", "ds", {Hours(13, 14)}, 50, kNow + absl::Hours(1)));
  EXPECT_EQ(box.locks().size(), 1u);
}

}  // namespace
}  // namespace interlock::simulator
