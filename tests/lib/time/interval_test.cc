#include "lib/time/interval.h"

#include <string>

#include "absl/hash/hash_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/reason.h"

namespace interlock {
namespace {

using ::testing::HasSubstr;

Interval I(int64_t start, int64_t end) {
  return Interval::Of(Instant::FromMillis(start), Instant::FromMillis(end)).value();
}

Interval Parsed(const std::string& text) { return Interval::Parse(text).value(); }
Interval Short(const std::string& text) { return Interval::ParseShorthand(text).value(); }

// Every way in which two intervals can lie to each other: [10, 20) against [start, end).
struct Position {
  const char* name;
  int64_t start, end;
  bool contains, inside, overlaps, abuts, crosses;
};

constexpr Position kPositions[] = {
    // name                   start end  contains inside overlaps abuts crosses
    {"before", 0, 5, false, false, false, false, false},
    {"touches the start", 0, 10, false, false, false, true, false},
    {"reaches into the start", 0, 15, false, false, true, false, true},
    {"from before to the end", 0, 20, false, true, true, false, false},
    {"around", 0, 30, false, true, true, false, false},
    {"the start", 10, 15, true, false, true, false, false},
    {"the same", 10, 20, true, true, true, false, false},
    {"from the start to after", 10, 30, false, true, true, false, false},
    {"inside", 12, 18, true, false, true, false, false},
    {"the end", 15, 20, true, false, true, false, false},
    {"reaches out of the end", 15, 30, false, false, true, false, true},
    {"touches the end", 20, 30, false, false, false, true, false},
    {"after", 25, 30, false, false, false, false, false},
    {"empty before", 5, 5, false, false, false, false, false},
    {"empty at the start", 10, 10, true, false, false, true, false},
    {"empty inside", 15, 15, true, false, true, false, false},
    {"empty at the end", 20, 20, false, false, false, true, false},
    {"empty after", 25, 25, false, false, false, false, false},
};

TEST(Interval, KnowsEveryPositionOfAnother) {
  const Interval self = I(10, 20);
  for (const Position& p : kPositions) {
    const Interval other = I(p.start, p.end);
    EXPECT_EQ(self.Contains(other), p.contains) << p.name;
    EXPECT_EQ(other.Contains(self), p.inside) << p.name;
    EXPECT_EQ(self.Overlaps(other), p.overlaps) << p.name;
    EXPECT_EQ(other.Overlaps(self), p.overlaps) << p.name;
    EXPECT_EQ(self.Abuts(other), p.abuts) << p.name;
    EXPECT_EQ(other.Abuts(self), p.abuts) << p.name;
    EXPECT_EQ(self.Crosses(other), p.crosses) << p.name;
    EXPECT_EQ(other.Crosses(self), p.crosses) << p.name;
    EXPECT_EQ(self.Intersect(other).has_value(), p.overlaps) << p.name;
  }
}

TEST(Interval, OfNoLengthContainsAndOverlapsNothingOfItsKind) {
  const Interval empty = I(10, 10);
  EXPECT_TRUE(empty.empty());
  EXPECT_FALSE(empty.Contains(empty));
  EXPECT_FALSE(empty.Overlaps(empty));
  EXPECT_FALSE(empty.Contains(Instant::FromMillis(10)));
  EXPECT_TRUE(empty.Abuts(empty));
}

TEST(Interval, HoldsItsStartAndNotItsEnd) {
  const Interval self = I(10, 20);
  EXPECT_FALSE(self.Contains(Instant::FromMillis(9)));
  EXPECT_TRUE(self.Contains(Instant::FromMillis(10)));
  EXPECT_TRUE(self.Contains(Instant::FromMillis(19)));
  EXPECT_FALSE(self.Contains(Instant::FromMillis(20)));
}

TEST(Interval, IntersectsToTheCommonPart) {
  EXPECT_EQ(I(10, 20).Intersect(I(15, 30)), I(15, 20));
  EXPECT_EQ(I(10, 20).Intersect(I(0, 30)), I(10, 20));
  EXPECT_EQ(I(10, 20).Intersect(I(15, 15)), I(15, 15));
  EXPECT_EQ(I(10, 20).Intersect(I(20, 30)), std::nullopt);
}

TEST(Interval, CannotEndBeforeItStarts) {
  const auto interval = Interval::Of(Instant::FromMillis(1), Instant::FromMillis(0));
  EXPECT_EQ(interval.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(interval.status()), "INTERVAL_ENDS_BEFORE_START");
  EXPECT_EQ(Interval::Between(Instant::FromMillis(1), Instant::FromMillis(0)), I(0, 1));
}

TEST(Interval, CannotReachOutOfEternity) {
  const Instant before = Instant::FromMillis(Instant::kMin.millis() - 1);
  EXPECT_EQ(ReasonOf(Interval::Of(before, Instant()).status()), "INSTANT_OUTSIDE_ETERNITY");
  EXPECT_EQ(ReasonOf(Interval::Parse("2026/P200000000Y").status()), "INSTANT_OUTSIDE_ETERNITY");
  EXPECT_EQ(Interval::Eternity().ToString(),
            "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z");
  EXPECT_EQ(Parsed(Interval::Eternity().ToString()), Interval::Eternity());
}

TEST(Interval, IsReadInEachOfDruidsForms) {
  const Interval day = Parsed("2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z");
  EXPECT_EQ(Parsed("2026-07-16/2026-07-17"), day);
  EXPECT_EQ(Parsed("2026-07-16/P1D"), day);
  EXPECT_EQ(Parsed("PT24H/2026-07-17"), day);
  EXPECT_EQ(Parsed("2026-07-16T02:00+02:00/2026-07-16T20:00-04:00"), day);
  EXPECT_EQ(Parsed("2026-W29-4/2026-198"), day);
  EXPECT_EQ(day.ToString(), "2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z");
}

TEST(Interval, EndTakesNothingOverFromTheStart) {
  EXPECT_EQ(ReasonOf(Interval::Parse("2026-07-16/17").status()), "INTERVAL_ENDS_BEFORE_START");
  EXPECT_EQ(ReasonOf(Interval::Parse("2026-07-16T13+02:00/T14").status()),
            "INTERVAL_ENDS_BEFORE_START");
}

TEST(Interval, IsRefusedWithWhatIsWrong) {
  const auto message = [](const char* text) {
    const absl::Status status = Interval::Parse(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    return std::string(status.message());
  };
  EXPECT_THAT(message("2026-07-16"), HasSubstr("it has no '/'"));
  EXPECT_THAT(message("2026_2027"), HasSubstr("it has no '/'"));
  EXPECT_THAT(message("/2026"), HasSubstr("nothing stands before the '/'"));
  EXPECT_THAT(message("2026/"), HasSubstr("nothing stands after the '/'"));
  EXPECT_THAT(message("P1D/P1D"), HasSubstr("both sides are periods"));
  EXPECT_THAT(message("2026/2027/2028"), HasSubstr("stops making sense at byte 4"));
  EXPECT_THAT(message("2026/P-1D"), HasSubstr("ends before it starts"));
}

TEST(IntervalShorthand, OfALoneDateIsAllOfIt) {
  EXPECT_EQ(Short("2026"), Parsed("2026-01-01/2027-01-01"));
  EXPECT_EQ(Short("2026-02"), Parsed("2026-02-01/2026-03-01"));
  EXPECT_EQ(Short("2026-W29"), Parsed("2026-07-13/2026-07-20"));
  EXPECT_EQ(Short("2026-07-16"), Parsed("2026-07-16/2026-07-17"));
  EXPECT_EQ(Short("2026-197"), Parsed("2026-07-16/2026-07-17"));
  EXPECT_EQ(Short("2026-07-16T13"), Parsed("2026-07-16T13/PT1H"));
  EXPECT_EQ(Short("2026-07-16T13:05"), Parsed("2026-07-16T13:05/PT1M"));
  EXPECT_EQ(Short("2026-07-16T13:05:06"), Parsed("2026-07-16T13:05:06/PT1S"));
  EXPECT_EQ(Short("2026-07-16T13+02:00"), Parsed("2026-07-16T11/PT1H"));
  EXPECT_EQ(Short("2026-07-16/P2D"), Parsed("2026-07-16/2026-07-18"));
}

TEST(IntervalShorthand, RefusesWhatMeansSomethingElseThanItSeems) {
  for (const char* text :
       {"20260716", "1784203200000", "T13", "2026-07-16T13:05:06.5", "P1D", ""}) {
    EXPECT_FALSE(Interval::ParseShorthand(text).ok()) << text;
  }
}

TEST(Interval, SortsByStartThenByEnd) {
  EXPECT_LT(I(10, 30), I(20, 25));
  EXPECT_LT(I(10, 20), I(10, 30));
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly({I(1, 2), I(1, 3), I(2, 3), I(1, 1)}));
}

}  // namespace
}  // namespace interlock
