#include "lib/verify/attribution.h"

#include <gtest/gtest.h>

#include "tests/lib/verify/made_segments.h"

namespace interlock::verify {
namespace {

using druid::Timeline;
using Kind = Attribution::Kind;

constexpr char kHour[] = "2026-07-16T13:00:00Z/2026-07-16T14:00:00Z";
constexpr char kOld[] = "2026-07-16T16:00:00.000Z";
constexpr char kOurs[] = "2026-07-16T17:00:01.500Z";
constexpr char kLater[] = "2026-07-16T17:00:05.000Z";

AttributionQuestion Question() {
  AttributionQuestion question;
  question.partition = Of(kHour);
  question.used_before = {Numbered(kHour, kOld, 0, 1).id};
  question.created = At("2026-07-16T17:00:01.200Z");
  question.ended = At("2026-07-16T17:00:03Z");
  return question;
}

TEST(Attribution, AVersionWithinTheTasksLifeIsOurs) {
  const Attribution told = Attribute(
      Timeline::Of({Numbered(kHour, kOld, 0, 1), Numbered(kHour, kOurs, 0, 1)}), Question());
  EXPECT_EQ(told.kind, Kind::kOurs);
  EXPECT_EQ(told.version, kOurs);
}

TEST(Attribution, WhatWasThereBeforeIsNothingNew) {
  EXPECT_EQ(Attribute(Timeline::Of({Numbered(kHour, kOld, 0, 1)}), Question()).kind,
            Kind::kNothingNew);
  // Rows that a stream appended to it make no version.
  EXPECT_EQ(Attribute(Timeline::Of({Numbered(kHour, kOld, 0, 1), Numbered(kHour, kOld, 1, 1)}),
                      Question())
                .kind,
            Kind::kNothingNew);
}

TEST(Attribution, AVersionOutsideOfTheTasksLifeIsForeign) {
  EXPECT_EQ(Attribute(Timeline::Of({Numbered(kHour, kLater, 0, 1)}), Question()).kind,
            Kind::kForeign);
  EXPECT_EQ(
      Attribute(Timeline::Of({Numbered(kHour, "2026-07-16T17:00:01.199Z", 0, 1)}), Question()).kind,
      Kind::kForeign);
}

// With concurrent locks a stream's rows are published under the lowest version as well.
TEST(Attribution, WhatAStreamAppendedBesideItIsNobodysReplacement) {
  const char kAppended[] = "1970-01-01T00:00:00.000Z";
  const Attribution told = Attribute(
      Timeline::Of({Numbered(kHour, kAppended, 0, 0), Numbered(kHour, kOurs, 0, 1)}), Question());
  EXPECT_EQ(told.kind, Kind::kOurs);
  EXPECT_EQ(told.version, kOurs);
  EXPECT_EQ(Attribute(Timeline::Of({Numbered(kHour, kAppended, 0, 0)}), Question()).kind,
            Kind::kForeign);
}

TEST(Attribution, CompactionIsForeign) {
  druid::Segment compacted = Numbered(kHour, kOurs, 0, 1);
  compacted.compacted = true;
  EXPECT_EQ(Attribute(Timeline::Of({compacted}), Question()).kind, Kind::kForeign);
}

TEST(Attribution, CompactionOfWhatOursWroteLeavesItOurs) {
  druid::Segment compacted = Numbered(kHour, kLater, 0, 1);
  compacted.compacted = true;
  const Attribution told =
      Attribute(Timeline::Of({Numbered(kHour, kOurs, 0, 1), compacted}), Question());
  EXPECT_EQ(told.kind, Kind::kOurs);
  EXPECT_EQ(told.version, kOurs);
  EXPECT_EQ(told.compacted_as, kLater);
}

TEST(Attribution, BesideAnotherTaskItCantBeToldUnlessTheLockWasSeen) {
  AttributionQuestion question = Question();
  question.others_seen = true;
  const Timeline after = Timeline::Of({Numbered(kHour, kOurs, 0, 1)});
  EXPECT_EQ(Attribute(after, question).kind, Kind::kUnattributed);
  question.lock_version = kOurs;
  EXPECT_EQ(Attribute(after, question).kind, Kind::kOurs);
  question.lock_version = "2026-07-16T17:00:02.000Z";
  EXPECT_EQ(Attribute(after, question).kind, Kind::kForeign);
}

TEST(Attribution, OfSeveralNewVersionsNoneIsGuessed) {
  EXPECT_EQ(Attribute(Timeline::Of({Numbered(kHour, kOurs, 0, 1),
                                    Numbered(kHour, "2026-07-16T17:00:02.000Z", 0, 1)}),
                      Question())
                .kind,
            Kind::kUnattributed);
}

TEST(Attribution, AVersionThatIsNoTimeIsNotGuessed) {
  EXPECT_EQ(Attribute(Timeline::Of({Numbered(kHour, "v9", 0, 1)}), Question()).kind,
            Kind::kUnattributed);
}

TEST(Attribution, LooksAtItsPartitionOnly) {
  EXPECT_EQ(
      Attribute(Timeline::Of({Numbered("2026-07-16T14:00:00Z/2026-07-16T15:00:00Z", kOurs, 0, 1)}),
                Question())
          .kind,
      Kind::kNothingNew);
}

}  // namespace
}  // namespace interlock::verify
