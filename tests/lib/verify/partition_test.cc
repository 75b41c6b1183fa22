#include "lib/verify/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/verify/unseen.h"
#include "tests/lib/verify/made_segments.h"

namespace interlock::verify {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHour[] = "2026-07-16T13:00:00Z/2026-07-16T14:00:00Z";
constexpr char kOld[] = "2026-07-16T14:10:00.000Z";
constexpr char kNew[] = "2026-07-16T14:50:00.000Z";

PartitionQuestion AskFor(const std::string& partition) {
  PartitionQuestion question;
  question.partition = Of(partition);
  question.now = At("2026-07-16T15:00:00Z");
  question.count_metric = "events";
  return question;
}

PartitionVerdict Ask(const druid::Snapshot& snapshot, const PartitionQuestion& question) {
  return VerifyPartition(druid::Timeline::Of(snapshot.used), snapshot, question);
}

PartitionVerdict Ask(const druid::Snapshot& snapshot) { return Ask(snapshot, AskFor(kHour)); }

TEST(VerifyPartition, OneCompleteVersionWithTheExpectedRowsIsGood) {
  druid::Snapshot snapshot =
      SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 2), Numbered(kHour, kNew, 1, 2)});
  snapshot.rows = {Rows(kHour, 40, 1000)};
  PartitionQuestion question = AskFor(kHour);
  question.expected_rows = 1000;
  question.expected_version = kNew;
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_THAT(Names(verdict.findings), ElementsAre("SINGLE_VERSION"));
  EXPECT_TRUE(verdict.good());
  EXPECT_EQ(verdict.rows, 1000);
  EXPECT_EQ(verdict.stored_rows, 40);
  EXPECT_THAT(verdict.visible_versions, ElementsAre(kNew));
}

TEST(VerifyPartition, WithoutAnExpectationRowsAreSaidNotToBeProvable) {
  const PartitionVerdict verdict = Ask(SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)}));
  EXPECT_THAT(Names(verdict.findings), ElementsAre("SINGLE_VERSION", "ROWS_NOT_PROVABLE"));
  EXPECT_TRUE(verdict.good());
}

// One version, two copies: the hour that was appended to, though a run meant to replace it.
TEST(VerifyPartition, Case001EqualSegmentsOfOneVersionAreDuplicates) {
  const PartitionVerdict verdict = Ask(SnapshotOf(
      kHour, {Numbered(kHour, kOld, 0, 0, 61'000), Numbered(kHour, kOld, 1, 0, 61'000)}));
  EXPECT_THAT(Names(verdict.findings), Contains("SINGLE_VERSION"));
  EXPECT_THAT(Names(verdict.findings), Contains("DUPLICATE_ROWS"));
  EXPECT_FALSE(verdict.good());
  EXPECT_LT(verdict.findings[1].score, 1);
  EXPECT_EQ(verdict.findings[1].segments.size(), 2u);
}

TEST(VerifyPartition, Case002TwiceTheExpectedRowsAreDuplicatesAndNoDoubleVersion) {
  druid::Snapshot snapshot =
      SnapshotOf(kHour, {Numbered(kHour, kOld, 0, 2), Numbered(kHour, kOld, 1, 2)});
  snapshot.rows = {Rows(kHour, 1000, 1000)};
  PartitionQuestion question = AskFor(kHour);
  question.expected_rows = 500;
  question.expected_from = "the caller";
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_THAT(Names(verdict.findings), ElementsAre("SINGLE_VERSION", "DUPLICATE_ROWS"));
  EXPECT_THAT(verdict.findings[1].evidence,
              HasSubstr("1000 rows, and 500 are expected by the caller: 2 times"));
  EXPECT_EQ(verdict.findings[1].score, 1);
}

TEST(VerifyPartition, Case009ASnapshotFromBeforeTheTasksEndProvesNothing) {
  druid::Snapshot snapshot = SnapshotOf(kHour, {Numbered(kHour, kOld, 0, 1)});
  PartitionQuestion question = AskFor(kHour);
  question.not_before = snapshot.taken + absl::Seconds(1);
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_THAT(Names(verdict.findings), ElementsAre("UNDETERMINED"));
  EXPECT_TRUE(verdict.undetermined());
}

TEST(VerifyPartition, Case011AnIncompleteNewVersionDoesNotHideTheOldOne) {
  const PartitionVerdict verdict =
      Ask(SnapshotOf(kHour, {Numbered(kHour, kOld, 0, 1), Numbered(kHour, kNew, 0, 3),
                             Numbered(kHour, kNew, 2, 3)}));
  EXPECT_THAT(Names(verdict.findings),
              ElementsAre("SINGLE_VERSION", "INCOMPLETE_PARTITION_SET", "ROWS_NOT_PROVABLE"));
  EXPECT_THAT(verdict.visible_versions, ElementsAre(kOld));
  EXPECT_THAT(verdict.findings[1].evidence, HasSubstr("2 of 3 core partitions"));
}

TEST(VerifyPartition, Case011RestsOfAnOldVersionUnderACompleteNewOneAreHidden) {
  const PartitionVerdict verdict =
      Ask(SnapshotOf(kHour, {Numbered(kHour, kOld, 3, 100), Numbered(kHour, kNew, 0, 1)}));
  EXPECT_THAT(Names(verdict.findings), ElementsAre("SINGLE_VERSION", "ROWS_NOT_PROVABLE"));
  EXPECT_THAT(verdict.hidden_versions, ElementsAre(kOld));
}

TEST(VerifyPartition, Case012IsNotServedBeforeAllOfItIsLoaded) {
  druid::Snapshot snapshot = SnapshotOf(
      kHour,
      {Numbered(kHour, kNew, 0, 0), Numbered(kHour, kNew, 1, 0), Numbered(kHour, kNew, 2, 0)});
  snapshot.load.unavailable_segments = 2;
  snapshot.rows = {Rows(kHour, 10, 333)};
  PartitionQuestion question = AskFor(kHour);
  question.expected_rows = 1000;
  const PartitionVerdict verdict = Ask(snapshot, question);
  // Too few rows now: they are on their way, and not missing.
  EXPECT_THAT(Names(verdict.findings), ElementsAre("SINGLE_VERSION", "NOT_LOADED", "UNDETERMINED"));
  EXPECT_FALSE(verdict.good());
}

TEST(VerifyPartition, Case014ComparesSumsOfTheCountMetricAndNotStoredRows) {
  druid::Snapshot snapshot = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  snapshot.rows = {Rows(kHour, 1000, 2000)};
  PartitionQuestion question = AskFor(kHour);
  question.expected_rows = 1000;
  EXPECT_THAT(Names(Ask(snapshot, question).findings),
              ElementsAre("SINGLE_VERSION", "DUPLICATE_ROWS"));
  snapshot.rows = {Rows(kHour, 7, 1000)};
  EXPECT_TRUE(Ask(snapshot, question).good());
}

TEST(VerifyPartition, Case018ADayWithinAMonthlySegmentIsOneVersionAndTheMonthPartlyCovered) {
  const char* whole = "2020-01-01/2020-02-01";
  const char* day = "2020-01-10/2020-01-11";
  const druid::Snapshot snapshot =
      SnapshotOf(whole, {Numbered(whole, "2020-02-02T00:00:00.000Z", 0, 1),
                         Numbered(day, "2020-03-01T00:00:00.000Z", 0, 1)});
  EXPECT_THAT(Names(Ask(snapshot, AskFor(day)).findings), Contains("SINGLE_VERSION"));
  EXPECT_THAT(Names(Ask(snapshot, AskFor("2020-01-11/2020-01-12")).findings),
              Contains("SINGLE_VERSION"));
  const PartitionVerdict month = Ask(snapshot, AskFor(whole));
  EXPECT_THAT(Names(month.findings), Contains("PARTIALLY_COVERED"));
  EXPECT_EQ(month.visible_versions.size(), 2u);
}

TEST(VerifyPartition, Case022ATombstoneIsGoodWhereNoRowsAreExpected) {
  druid::Snapshot snapshot = SnapshotOf(kHour, {Tombstone(kHour, kNew)});
  snapshot.rows = {Rows(kHour, 0, 0)};
  PartitionQuestion question = AskFor(kHour);
  EXPECT_THAT(Names(Ask(snapshot, question).findings), ElementsAre("TOMBSTONED"));
  question.expected_rows = 0;
  EXPECT_TRUE(Ask(snapshot, question).good());
  question.expected_rows = 5;
  EXPECT_THAT(Names(Ask(snapshot, question).findings), ElementsAre("TOMBSTONED", "MISSING_ROWS"));
}

TEST(VerifyPartition, NoSegmentIsEmpty) {
  PartitionQuestion question = AskFor(kHour);
  EXPECT_THAT(Names(Ask(SnapshotOf(kHour, {}), question).findings), ElementsAre("EMPTY"));
  question.expected_rows = 5;
  druid::Snapshot snapshot = SnapshotOf(kHour, {});
  snapshot.rows = {Rows(kHour, 0, 0)};
  EXPECT_THAT(Names(Ask(snapshot, question).findings), ElementsAre("EMPTY", "MISSING_ROWS"));
}

TEST(VerifyPartition, AHiddenVersionIsNormalWithinItsGraceAndDoubleAfterIt) {
  const druid::Snapshot snapshot =
      SnapshotOf(kHour, {Numbered(kHour, kOld, 0, 1), Numbered(kHour, kNew, 0, 1)});
  PartitionQuestion question = AskFor(kHour);
  EXPECT_THAT(Names(Ask(snapshot, question).findings),
              ElementsAre("SINGLE_VERSION", "ROWS_NOT_PROVABLE"));
  question.now = At(kNew) + absl::Hours(1) + absl::Seconds(1);
  const PartitionVerdict late = Ask(snapshot, question);
  EXPECT_THAT(Names(late.findings), Contains("DOUBLE_VERSION"));
  EXPECT_THAT(late.findings[1].segments, ElementsAre(snapshot.used[0].id));
}

constexpr char kDay[] = "2026-07-15/2026-07-16";

std::string HourOfDay(int hour) {
  const Instant start = At("2026-07-15T00:00:00Z") + absl::Hours(hour);
  return Interval::Between(start, start + absl::Hours(1)).ToString();
}

// Of a day, all hours but one were rewritten long ago: it is hidden since that last one.
TEST(VerifyPartition, WhatSeveralVersionsHideIsHiddenSinceTheLastOfThem) {
  std::vector<druid::Segment> segments = {Numbered(kDay, "2026-07-16T01:00:00.000Z", 0, 1)};
  for (int hour = 0; hour < 24; ++hour) {
    segments.push_back(
        Numbered(HourOfDay(hour), hour == 23 ? kNew : "2026-07-16T02:00:00.000Z", 0, 1));
  }
  const druid::Snapshot snapshot = SnapshotOf(kDay, segments);
  PartitionQuestion question = AskFor(kDay);
  EXPECT_TRUE(Ask(snapshot, question).good());
  question.now = At(kNew) + absl::Hours(1) + absl::Seconds(1);
  EXPECT_THAT(Names(Ask(snapshot, question).findings), Contains("DOUBLE_VERSION"));
}

// A version is its lock's time, and a task may take longer than the grace to publish.
TEST(VerifyPartition, WhatWasNotHiddenAMomentAgoIsHiddenSinceThen) {
  const druid::Snapshot snapshot =
      SnapshotOf(kHour, {Numbered(kHour, kOld, 0, 1), Numbered(kHour, kNew, 0, 1)});
  PartitionQuestion question = AskFor(kHour);
  question.now = At(kNew) + absl::Hours(3);
  EXPECT_FALSE(Ask(snapshot, question).good());
  question.none_hidden_at = question.now - absl::Minutes(15);
  EXPECT_TRUE(Ask(snapshot, question).good());
  question.none_hidden_at = question.now - absl::Minutes(61);
  EXPECT_FALSE(Ask(snapshot, question).good());
}

TEST(VerifyPartition, Case011AnIncompleteVersionThatIsHiddenInAPartOnlyIsTold) {
  const std::string ten = HourOfDay(10);
  druid::Snapshot snapshot = SnapshotOf(
      kDay, {Numbered(kDay, kOld, 1, 2), Numbered(kDay, kOld, 2, 2), Numbered(ten, kNew, 0, 1)});
  const PartitionVerdict verdict = Ask(snapshot, AskFor(kDay));
  EXPECT_THAT(Names(verdict.findings), Contains("INCOMPLETE_PARTITION_SET"));
  EXPECT_FALSE(verdict.good()) << "the other hours are not seen";
  // What was appended beyond the core is none of it.
  EXPECT_THAT(verdict.findings[1].evidence, HasSubstr("1 of 2 core partitions"));
  EXPECT_TRUE(Ask(snapshot, AskFor(ten)).good()) << "that hour has another, complete version";
  snapshot.used.pop_back();
  EXPECT_THAT(Ask(snapshot, AskFor(kDay)).findings.back().next, HasSubstr("marked used again"));
}

TEST(VerifyPartition, AtLevelRetiredADayBelowOneOfItsHoursIsNotRetiredThere) {
  const std::string ten = HourOfDay(10);
  const druid::Snapshot snapshot =
      SnapshotOf(kDay, {Numbered(kDay, kOld, 0, 1), Numbered(ten, kNew, 0, 1)});
  PartitionQuestion question = AskFor(ten);
  EXPECT_TRUE(Ask(snapshot, question).good());
  question.level = Level::kRetired;
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_FALSE(verdict.good()) << "a drop of the hour would show the day again";
  EXPECT_EQ(verdict.findings[1].reason, kHiddenHereOnly);
  EXPECT_EQ(ReachedLevel(verdict.findings, Level::kRetired), Level::kServed);
}

TEST(VerifyPartition, WhatIsNotLoadedElsewhereIsNoFaultHere) {
  druid::Snapshot snapshot = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  snapshot.load.unavailable_segments = 3;
  PartitionQuestion question = AskFor(kHour);
  EXPECT_THAT(Names(Ask(snapshot, question).findings), Contains("NOT_LOADED"));
  question.unloaded = 0;
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_TRUE(verdict.good());
  EXPECT_EQ(verdict.unloaded_segments, 0);
  question.unloaded = 1;
  EXPECT_THAT(Ask(snapshot, question).findings[1].evidence,
              HasSubstr("1 visible segments of 2026-07-16T13:00"));
}

TEST(VerifyPartition, RowsAppendedToAReplacedVersionMayCountTwice) {
  const PartitionVerdict verdict =
      Ask(SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1), Numbered(kHour, kNew, 1, 1)}));
  EXPECT_THAT(Names(verdict.findings), Contains("DUPLICATE_ROWS"));
  EXPECT_EQ(verdict.appended_segments, 1);
  EXPECT_THAT(verdict.findings[1].evidence, HasSubstr("appended"));
}

TEST(VerifyPartition, SignsOfDuplicatesAreDroppedWhenRowsAreAsExpected) {
  druid::Snapshot snapshot =
      SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1), Numbered(kHour, kNew, 1, 1)});
  snapshot.rows = {Rows(kHour, 10, 10)};
  PartitionQuestion question = AskFor(kHour);
  question.expected_rows = 10;
  EXPECT_TRUE(Ask(snapshot, question).good());
}

TEST(VerifyPartition, AnotherVersionThanTheOneProvenIsForeign) {
  PartitionQuestion question = AskFor(kHour);
  question.expected_version = kOld;
  const PartitionVerdict verdict =
      Ask(SnapshotOf(kHour, {Numbered(kHour, kOld, 0, 1), Numbered(kHour, kNew, 0, 1)}), question);
  EXPECT_THAT(Names(verdict.findings), Contains("FOREIGN_WRITE"));
}

TEST(VerifyPartition, WhatIsNotKnownIsUndetermined) {
  druid::Segment odd = Numbered(kHour, kNew, 0, 1);
  odd.shard = {"quantum", 0, 0, false};
  EXPECT_TRUE(Ask(SnapshotOf(kHour, {odd})).undetermined());

  druid::Snapshot changing = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  changing.changed_meanwhile = true;
  EXPECT_TRUE(Ask(changing).undetermined());

  // The metadata store has a segment, and the coordinator says that there is none.
  druid::Snapshot stale = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  stale.load.any_used = false;
  EXPECT_TRUE(Ask(stale).undetermined());

  PartitionQuestion question = AskFor(kHour);
  question.expected_rows = 3;
  EXPECT_TRUE(Ask(SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)}), question).undetermined());

  EXPECT_TRUE(NothingKnown(Of(kHour), "503").undetermined());
}

TEST(VerifyPartition, EveryVerdictButTheGoodOnesSaysWhatToDoNext) {
  for (int i = 0; i <= static_cast<int>(Verdict::kUndetermined); ++i) {
    const Finding finding = MakeFinding(static_cast<Verdict>(i), "seen");
    EXPECT_THAT(std::string(NameOf(finding.verdict)), testing::MatchesRegex("[A-Z_]+"));
    EXPECT_EQ(finding.next.empty(), finding.verdict == Verdict::kSingleVersion);
  }
}

}  // namespace
}  // namespace interlock::verify
