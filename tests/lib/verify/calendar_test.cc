#include "lib/verify/calendar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/verify/partition.h"
#include "tests/lib/verify/made_segments.h"

namespace interlock::verify {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr char kOld[] = "2026-07-17T01:00:00.000Z";
constexpr char kNew[] = "2026-07-17T02:00:00.000Z";
constexpr char kDay[] = "2026-07-16/2026-07-17";
constexpr char kTen[] = "2026-07-16T10/2026-07-16T11";

std::vector<Interval> Partitions(const druid::Timeline& timeline, const std::string& interval) {
  const Interval asked = Of(interval);
  return *PartitionsOf(timeline, asked, CalendarOf(timeline, asked), 1'000);
}

TEST(PartitionsOf, HoursOfAWholeDayAreHours) {
  const auto timeline = druid::Timeline::Of({Numbered(kTen, kNew, 0, 1)});
  EXPECT_THAT(Partitions(timeline, "2026-07-16T10/2026-07-16T12"),
              ElementsAre(Of(kTen), Of("2026-07-16T11/2026-07-16T12")));
}

// One hour rewritten within a day's chunk: the day is one partition, of two versions.
TEST(PartitionsOf, ChunksThatOverlapAreOnePartitionWhichIsPartiallyCovered) {
  const auto timeline =
      druid::Timeline::Of({Numbered(kDay, kOld, 0, 1), Numbered(kTen, kNew, 0, 1)});
  const auto partitions = Partitions(timeline, kDay);
  ASSERT_THAT(partitions, ElementsAre(Of(kDay)));
  PartitionQuestion question;
  question.partition = partitions[0];
  question.now = At("2026-07-17T02:10:00Z");
  const auto verdict = VerifyPartition(timeline, SnapshotOf(kDay, timeline.segments()), question);
  EXPECT_THAT(Names(verdict.findings), Contains("PARTIALLY_COVERED"));
  EXPECT_FALSE(verdict.good());
}

TEST(PartitionsOf, AnHourThatIsAskedForAloneIsOneVersion) {
  const auto timeline =
      druid::Timeline::Of({Numbered(kDay, kOld, 0, 1), Numbered(kTen, kNew, 0, 1)});
  EXPECT_THAT(Partitions(timeline, kTen), ElementsAre(Of(kTen)));
  EXPECT_THAT(Partitions(timeline, "2026-07-16T10/2026-07-16T12"),
              ElementsAre(Of("2026-07-16T10/2026-07-16T12")));
}

TEST(PartitionsOf, CalendarsSideBySideDoNotTouchEachOther) {
  const auto timeline = druid::Timeline::Of(
      {Numbered(kTen, kNew, 0, 1), Numbered("2026-07-17/2026-07-18", kOld, 0, 1)});
  EXPECT_THAT(Partitions(timeline, "2026-07-16T10/2026-07-18"),
              ElementsAre(Of(kTen), Of("2026-07-16T11/2026-07-17"), Of("2026-07-17/2026-07-18")));
}

}  // namespace
}  // namespace interlock::verify
