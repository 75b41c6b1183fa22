#include "lib/time/interval_set.h"

#include <bitset>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace interlock {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Interval I(int64_t start, int64_t end) {
  return Interval::Between(Instant::FromMillis(start), Instant::FromMillis(end));
}

TEST(IntervalSet, CondensesWhatOverlapsOrTouches) {
  EXPECT_THAT(Condense({I(20, 30), I(0, 10), I(5, 12), I(30, 40), I(50, 50)}),
              ElementsAre(I(0, 12), I(20, 40)));
  EXPECT_THAT(Condense({I(0, 100), I(10, 20)}), ElementsAre(I(0, 100)));
  EXPECT_THAT(Condense({}), IsEmpty());
}

TEST(IntervalSet, SubtractsFromTheMiddleAndAcrossIntervals) {
  EXPECT_THAT(Subtract({I(0, 10), I(20, 30)}, {I(3, 5), I(8, 22)}),
              ElementsAre(I(0, 3), I(5, 8), I(22, 30)));
  EXPECT_THAT(Subtract({I(0, 10)}, {I(0, 10)}), IsEmpty());
  EXPECT_THAT(Subtract({I(0, 10), I(20, 30)}, {I(-5, 40)}), IsEmpty());
}

TEST(IntervalSet, IntersectsToWhatIsInBoth) {
  EXPECT_THAT(Intersect({I(0, 10), I(20, 30)}, {I(5, 25)}), ElementsAre(I(5, 10), I(20, 25)));
  EXPECT_THAT(Intersect({I(0, 10)}, {I(10, 20)}), IsEmpty());
}

TEST(IntervalSet, CoversOnlyWhatIsInsideAsAWhole) {
  EXPECT_TRUE(Covers({I(0, 10), I(20, 30)}, {I(2, 4), I(6, 10), I(20, 30)}));
  EXPECT_FALSE(Covers({I(0, 10), I(20, 30)}, {I(5, 25)}));
  EXPECT_TRUE(Covers({}, {}));
  EXPECT_FALSE(Covers({}, {I(0, 1)}));
}

TEST(IntervalSet, TotalOfEternityDoesNotOverflow) {
  EXPECT_EQ(TotalMillis({Interval::Eternity()}), INT64_MAX);
  EXPECT_EQ(TotalMillis({I(0, 10), I(20, 25)}), 15);
}

// The same questions on a line of a few points, where a bit stands for each millisecond.
constexpr int kPoints = 64;
using Points = std::bitset<kPoints>;

Points PointsOf(const std::vector<Interval>& set) {
  Points points;
  for (const Interval& i : set) {
    for (int64_t at = i.start().millis(); at < i.end().millis(); ++at) points.set(at);
  }
  return points;
}

std::vector<Interval> RandomIntervals(std::mt19937& random) {
  std::vector<Interval> intervals;
  const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  for (int n = below(8); n > 0; --n) {
    const int start = below(kPoints);
    intervals.push_back(I(start, std::min(kPoints, start + below(12))));
  }
  return intervals;
}

TEST(IntervalSet, AgreesWithASetOfPoints) {
  constexpr unsigned kSeed = 20260716;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 20000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
    const auto raw = RandomIntervals(random);
    const auto a = Condense(raw), b = Condense(RandomIntervals(random));
    ASSERT_TRUE(IsCondensed(a));
    ASSERT_EQ(PointsOf(a), PointsOf(raw));
    const auto difference = Subtract(a, b), common = Intersect(a, b);
    ASSERT_TRUE(IsCondensed(difference));
    ASSERT_TRUE(IsCondensed(common));
    ASSERT_EQ(PointsOf(difference), PointsOf(a) & ~PointsOf(b));
    ASSERT_EQ(PointsOf(common), PointsOf(a) & PointsOf(b));
    ASSERT_EQ(Covers(a, b), (PointsOf(b) & ~PointsOf(a)).none());
    ASSERT_EQ(TotalMillis(a), static_cast<int64_t>(PointsOf(a).count()));
  }
}

}  // namespace
}  // namespace interlock
