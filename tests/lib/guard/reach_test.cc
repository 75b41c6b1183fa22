#include "lib/guard/reach.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace interlock::guard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Interval Of(const std::string& text) { return *Interval::Parse(text); }
const Granularity kHours = *Granularity::FromName("HOUR");

TEST(Reach, TheBoundaryIsExactAndWhatWouldDoEndsAtAPartition) {
  const Instant boundary = *Instant::Parse("2026-07-16T13:11:39.950Z");
  const Reach reach = ReachInto({Of("2026-07-16T10:00Z/2026-07-16T15:00Z")}, boundary, kHours);
  EXPECT_TRUE(reach.any());
  EXPECT_EQ(reach.boundary, boundary);
  EXPECT_THAT(reach.outside, ElementsAre(Of("2026-07-16T10:00Z/2026-07-16T13:00Z")));
  EXPECT_THAT(reach.inside, ElementsAre(Of("2026-07-16T13:00Z/2026-07-16T15:00Z")));
}

TEST(Reach, WhatEndsAtTheBoundaryIsOutside) {
  const Instant boundary = *Instant::Parse("2026-07-16T13:00Z");
  const Reach reach = ReachInto({Of("2026-07-16T12:00Z/2026-07-16T13:00Z")}, boundary, kHours);
  EXPECT_FALSE(reach.any());
  EXPECT_THAT(reach.outside, ElementsAre(Of("2026-07-16T12:00Z/2026-07-16T13:00Z")));
}

TEST(Reach, AnUnboundedTailLeavesNothingOutside) {
  const Reach reach = ReachInto({Of("2026-07-16T12:00Z/2026-07-16T13:00Z")}, Instant::kMin, kHours);
  EXPECT_TRUE(reach.any());
  EXPECT_THAT(reach.outside, IsEmpty());
}

TEST(Reach, WhatLiesOnBothSidesIsCutOneByOne) {
  const Reach reach = ReachInto(
      {Of("2026-07-16T01:00Z/2026-07-16T02:00Z"), Of("2026-07-16T12:00Z/2026-07-16T14:00Z")},
      *Instant::Parse("2026-07-16T13:30Z"), kHours);
  EXPECT_THAT(reach.outside, ElementsAre(Of("2026-07-16T01:00Z/2026-07-16T02:00Z"),
                                         Of("2026-07-16T12:00Z/2026-07-16T13:00Z")));
  EXPECT_THAT(reach.inside, ElementsAre(Of("2026-07-16T13:00Z/2026-07-16T14:00Z")));
}

}  // namespace
}  // namespace interlock::guard
