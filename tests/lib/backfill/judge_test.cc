#include "lib/backfill/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/verify/made_segments.h"

namespace interlock::backfill {
namespace {

using druid::Segment;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using verify::At;
using verify::Numbered;
using verify::Of;
using verify::Rows;
using verify::Tombstone;

constexpr char kHour[] = "2026-07-16T13:00:00Z/2026-07-16T14:00:00Z";
constexpr char kNext[] = "2026-07-16T14:00:00Z/2026-07-16T15:00:00Z";
constexpr char kOld[] = "2026-07-16T20:00:00.000Z";
constexpr char kOurs[] = "2026-07-16T21:00:01.000Z";
constexpr char kForeign[] = "2026-07-16T21:00:30.000Z";

BeforeLook LookAt(const Unit& unit, const std::vector<Segment>& used) {
  BeforeLook look;
  const druid::Timeline timeline = druid::Timeline::Of(used);
  for (const Segment& segment : used) look.used.push_back(segment.id);
  for (const Interval& partition : unit.partitions) {
    PartitionBefore before;
    before.partition = partition;
    for (const druid::Slice& slice : timeline.Visible(partition)) {
      before.versions.push_back(slice.version);
      before.had_rows = before.had_rows || !slice.tombstone();
    }
    look.partitions.push_back(before);
  }
  look.neighbours = {Of(kNext)};
  const verify::VisibleSet set = verify::VisibleSetOf(timeline, look.neighbours);
  look.neighbour_segments = set.segments;
  look.neighbour_digest = set.digest;
  return look;
}

// A task over one hour that had rows, succeeded, and processed 10 rows.
Evidence After(const std::vector<Segment>& before, std::vector<Segment> after) {
  Evidence evidence;
  evidence.unit.intervals = evidence.unit.partitions = {Of(kHour)};
  evidence.before = LookAt(evidence.unit, before);
  evidence.task_id = "il-1";
  evidence.succeeded = true;
  evidence.created = At("2026-07-16T21:00:00.500Z");
  evidence.ended = At("2026-07-16T21:00:03Z");
  evidence.report.emplace();
  evidence.report->has_row_stats = true;
  evidence.report->processed = 10;
  evidence.after = verify::SnapshotOf(kHour, std::move(after));
  evidence.after.rows = {Rows(kHour, 4, 10)};
  evidence.terms.rule = RowRule::kCountMetric;
  evidence.terms.count_metric = "events";
  evidence.now = At("2026-07-16T21:00:04Z");
  evidence.settled = evidence.rows_settled = true;
  return evidence;
}

Evidence Replaced() {
  return After({Numbered(kHour, kOld, 0, 1)},
               {Numbered(kHour, kOld, 0, 1), Numbered(kHour, kOurs, 0, 1)});
}

TEST(JudgeUnit, OurVersionWithTheReportedRowsIsProven) {
  const UnitJudgement judged = JudgeUnit(Replaced());
  EXPECT_EQ(judged.seen, Seen::kProven);
  ASSERT_THAT(judged.partitions, SizeIs(1));
  const Proof& proof = judged.partitions[0].proof;
  EXPECT_EQ(judged.partitions[0].state, State::kDone);
  EXPECT_EQ(proof.version, kOurs);
  EXPECT_EQ(proof.attribution, "WITHIN_TASK_LIFE");
  EXPECT_THAT(proof.versions_before, ElementsAre(kOld));
  EXPECT_EQ(proof.rows, 10);
  EXPECT_EQ(proof.rows_expected, 10);
  ASSERT_EQ(proof.compared.size(), 1u);
  EXPECT_EQ(proof.compared[0].measure, "events");
  EXPECT_EQ(proof.segment_ids.size(), 1u);
  EXPECT_EQ(proof.neighbours_before, proof.neighbours_after);
  EXPECT_THAT(proof.notes, IsEmpty());
}

// Row 3, 74: the status is Druid's opinion; the segments are the fact.
TEST(JudgeUnit, Case003ATaskThatFailedAndHasPublishedIsProven) {
  Evidence evidence = Replaced();
  evidence.succeeded = false;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kProven);
  evidence.report.reset();
  const UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kProven);
  EXPECT_THAT(judged.partitions[0].proof.notes, ElementsAre(HasSubstr("ROWS_NOT_PROVABLE")));
}

TEST(JudgeUnit, SuccessWithoutANewVersionIsNotAppliedAfterASecondLook) {
  Evidence evidence = After({Numbered(kHour, kOld, 0, 1)}, {Numbered(kHour, kOld, 0, 1)});
  evidence.settled = false;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kNotYet);
  evidence.settled = true;
  const UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kNoEffect);
  EXPECT_EQ(judged.reason, "NO_NEW_VERSION");
}

TEST(JudgeUnit, Case020SuccessThatWipedTheHourIsSuspectAtOnce) {
  Evidence evidence =
      After({Numbered(kHour, kOld, 0, 1)}, {Numbered(kHour, kOld, 0, 1), Tombstone(kHour, kOurs)});
  evidence.report->processed = 0;
  evidence.report->unparseable = 120'000;
  evidence.after.rows = {Rows(kHour, 0, 0)};
  evidence.settled = false;
  const UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kWrong);
  EXPECT_EQ(judged.partitions[0].state, State::kSuspect);
  EXPECT_EQ(judged.partitions[0].reason, "ZERO_ROWS");
  // Loading is not waited for where nothing else came of it.
  evidence.after.load.unavailable_segments = 1;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kWrong);
}

TEST(JudgeUnit, ATombstoneIsEmptyWhereNoRowsAreExpected) {
  Evidence evidence =
      After({Tombstone(kHour, kOld)}, {Tombstone(kHour, kOld), Tombstone(kHour, kOurs)});
  evidence.report->processed = 0;
  evidence.after.rows = {Rows(kHour, 0, 0)};
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kProvenEmpty);
  // … and where the caller said that none may come.
  Evidence asked = After({Numbered(kHour, kOld, 0, 1)}, {Tombstone(kHour, kOurs)});
  asked.report->processed = 0;
  asked.after.rows = {Rows(kHour, 0, 0)};
  asked.terms.min_rows = 0;
  EXPECT_EQ(JudgeUnit(asked).seen, Seen::kProvenEmpty);
}

TEST(JudgeUnit, NothingBeforeAndNothingAfterIsEmptyUnlessRowsAreExpected) {
  Evidence evidence = After({}, {});
  evidence.report->processed = 0;
  evidence.after.rows = {Rows(kHour, 0, 0)};
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kProvenEmpty);
  evidence.terms.min_rows = 1;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kWrong);
  evidence.terms.min_rows.reset();
  evidence.report->processed = 5;  // it says that it read rows
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kNoEffect);
  evidence.succeeded = false;
  evidence.report.reset();
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kNoEffect);
}

TEST(JudgeUnit, OtherRowsThanReportedAreLookedAtAgainAndThenSuspect) {
  Evidence evidence = Replaced();
  evidence.after.rows = {Rows(kHour, 8, 20)};
  evidence.rows_settled = false;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kNotYet);
  evidence.rows_settled = true;
  UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kWrong);
  EXPECT_EQ(judged.reason, "DUPLICATE_ROWS");
  evidence.after.rows = {Rows(kHour, 2, 5)};
  judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.reason, "MISSING_ROWS");
  EXPECT_EQ(judged.partitions[0].state, State::kSuspect);
}

TEST(JudgeUnit, UnparseableRowsBeyondTheLimitAreSuspect) {
  Evidence evidence = Replaced();
  evidence.report->unparseable = 3;
  EXPECT_EQ(JudgeUnit(evidence).reason, "UNPARSEABLE_ROWS");
  evidence.terms.max_unparseable = 3;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kProven);
  evidence.unparseable_before = 1;  // of other units
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kWrong);
}

TEST(JudgeUnit, IsNotProvenBeforeItIsLoaded) {
  Evidence evidence = Replaced();
  evidence.after.load.unavailable_segments = 1;
  const UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kNotYet);
  EXPECT_EQ(judged.reason, "NOT_LOADED");
  evidence.level = verify::Level::kVisible;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kProven);
}

// Row 17: one month of the year had no input. The others are right, and proven only when loaded.
TEST(JudgeUnit, Case017WhatIsRightBesideASuspectPartitionIsNotDoneBeforeItIsLoaded) {
  constexpr char kBoth[] = "2026-07-16T12:00:00Z/2026-07-16T14:00:00Z";
  constexpr char kEarlier[] = "2026-07-16T12:00:00Z/2026-07-16T13:00:00Z";
  Evidence evidence = Replaced();
  evidence.unit.intervals = {Of(kBoth)};
  evidence.unit.partitions = {Of(kEarlier), Of(kHour)};
  evidence.before =
      LookAt(evidence.unit, {Numbered(kEarlier, kOld, 0, 1), Numbered(kHour, kOld, 0, 1)});
  evidence.after =
      verify::SnapshotOf(kBoth, {Numbered(kEarlier, kOurs, 0, 1), Tombstone(kHour, kOurs)});
  evidence.after.rows = {Rows(kEarlier, 4, 10)};
  evidence.after.load.unavailable_segments = 2;
  evidence.rows_settled = false;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kNotYet);
  evidence.rows_settled = true;
  UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kWrong);
  EXPECT_EQ(judged.reason, "ZERO_ROWS");
  EXPECT_EQ(judged.partitions[0].state, State::kUndetermined);
  EXPECT_EQ(judged.partitions[0].reason, "NOT_LOADED");
  EXPECT_EQ(judged.partitions[1].state, State::kSuspect);

  evidence.rows_settled = false;
  evidence.after.load.unavailable_segments = 0;
  judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kWrong);
  EXPECT_EQ(judged.partitions[0].state, State::kDone);
}

TEST(JudgeUnit, AnIncompleteVersionOfOursIsSuspect) {
  Evidence evidence = After({Numbered(kHour, kOld, 0, 1)},
                            {Numbered(kHour, kOld, 0, 1), Numbered(kHour, kOurs, 0, 2)});
  const UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kWrong);
  EXPECT_EQ(judged.reason, "INCOMPLETE_PARTITION_SET");
}

TEST(JudgeUnit, AVersionThatIsNotOursIsNeverProven) {
  const UnitJudgement foreign =
      JudgeUnit(After({Numbered(kHour, kOld, 0, 1)}, {Numbered(kHour, kForeign, 0, 1)}));
  EXPECT_EQ(foreign.seen, Seen::kWrong);
  EXPECT_EQ(foreign.reason, "FOREIGN_WRITE");

  Evidence unclear = Replaced();
  unclear.others_seen = true;
  EXPECT_EQ(JudgeUnit(unclear).seen, Seen::kCantTell);
  EXPECT_EQ(JudgeUnit(unclear).reason, "UNATTRIBUTED");
  unclear.locks = {{Of(kHour), kOurs}};
  const UnitJudgement seen = JudgeUnit(unclear);
  EXPECT_EQ(seen.seen, Seen::kProven);
  EXPECT_EQ(seen.partitions[0].proof.attribution, "LOCK_VERSION_SEEN");
}

TEST(JudgeUnit, CompactionOfOursWithTheSameRowsIsProven) {
  Segment compacted = Numbered(kHour, kForeign, 0, 1);
  compacted.compacted = true;
  const UnitJudgement judged =
      JudgeUnit(After({Numbered(kHour, kOld, 0, 1)}, {Numbered(kHour, kOurs, 0, 1), compacted}));
  EXPECT_EQ(judged.seen, Seen::kProven);
  EXPECT_THAT(judged.partitions[0].proof.notes, ElementsAre(HasSubstr("COMPACTED")));
}

TEST(JudgeUnit, ASnapshotThatChangedMeanwhileIsReadAgain) {
  Evidence evidence = Replaced();
  evidence.after.changed_meanwhile = true;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kNotYet);
}

TEST(JudgeUnit, AChangedNeighbourIsSuspectUnlessExplained) {
  Evidence evidence =
      After({Numbered(kHour, kOld, 0, 1), Numbered(kNext, kOld, 0, 1)},
            {Numbered(kHour, kOurs, 0, 1), Numbered(kNext, "2026-07-16T21:00:02.000Z", 0, 1)});
  UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kWrong);
  EXPECT_EQ(judged.reason, "FOREIGN_WRITE");
  evidence.known = {{Of(kNext), At("2026-07-16T21:00:00Z"), std::nullopt, "attempt 1 of bf-2"}};
  judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kProven);
  EXPECT_THAT(judged.partitions[0].proof.neighbour_changes, SizeIs(1));
  EXPECT_NE(judged.partitions[0].proof.neighbours_before,
            judged.partitions[0].proof.neighbours_after);
}

TEST(JudgeUnit, OurVersionNextDoorIsAFaultOfOurs) {
  const UnitJudgement judged =
      JudgeUnit(After({Numbered(kHour, kOld, 0, 1), Numbered(kNext, kOld, 0, 1)},
                      {Numbered(kHour, kOurs, 0, 1), Numbered(kNext, kOurs, 0, 1)}));
  EXPECT_EQ(judged.reason, "NEIGHBOUR_CHANGED");
}

TEST(JudgeUnit, ReindexedSumsAreComparedWithWhatWasRead) {
  Evidence evidence = Replaced();
  evidence.terms.rule = RowRule::kSourceSums;
  evidence.terms.sums = {{"n", "events"}};
  evidence.before.source_sums = {10};
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kProven);
  evidence.before.source_sums = {11};
  EXPECT_EQ(JudgeUnit(evidence).reason, "SUMS_DIFFER");
}

TEST(JudgeUnit, WithoutRollUpStoredRowsAreCounted) {
  Evidence evidence = Replaced();
  evidence.terms.rule = RowRule::kStoredRows;
  evidence.report->processed = 4;
  EXPECT_EQ(JudgeUnit(evidence).seen, Seen::kProven);
}

TEST(JudgeUnit, OfSeveralPartitionsTellsEachByItself) {
  Evidence evidence = Replaced();
  evidence.unit.intervals = {*Interval::Of(Of(kHour).start(), Of(kNext).end())};
  evidence.unit.partitions = {Of(kHour), Of(kNext)};
  evidence.before = LookAt(evidence.unit, {Numbered(kHour, kOld, 0, 1), Tombstone(kNext, kOld)});
  evidence.before.neighbours.clear();
  evidence.before.neighbour_segments.clear();
  evidence.after.used = {Numbered(kHour, kOurs, 0, 1),
                         Tombstone(kNext, "2026-07-16T21:00:01.001Z")};
  evidence.after.rows = {Rows(kHour, 4, 10), Rows(kNext, 0, 0)};
  const UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kProven);
  EXPECT_EQ(judged.partitions[0].state, State::kDone);
  EXPECT_EQ(judged.partitions[1].state, State::kEmpty);
}

TEST(JudgeUnit, AnEffectOnAPartOfTheUnitCantBeTold) {
  Evidence evidence = Replaced();
  evidence.unit.intervals = {*Interval::Of(Of(kHour).start(), Of(kNext).end())};
  evidence.unit.partitions = {Of(kHour), Of(kNext)};
  evidence.before =
      LookAt(evidence.unit, {Numbered(kHour, kOld, 0, 1), Numbered(kNext, kOld, 0, 1)});
  evidence.after.used = {Numbered(kHour, kOurs, 0, 1), Numbered(kNext, kOld, 0, 1)};
  const UnitJudgement judged = JudgeUnit(evidence);
  EXPECT_EQ(judged.seen, Seen::kCantTell);
  EXPECT_EQ(judged.reason, "PARTLY_APPLIED");
}

TEST(Proof, ReadsBack) {
  Proof proof = JudgeUnit(Replaced()).partitions[0].proof;
  proof.notes = {"a note"};
  proof.rows_expected = 0.5;
  proof.compared = {{"bytes", 0.5, 0.25}};
  proof.segment_ids = {"clicks_a", "clicks_b"};
  const auto read = ProofFrom(ToJson(proof));
  ASSERT_TRUE(read);
  EXPECT_EQ(ToJson(*read), ToJson(proof));
  EXPECT_FALSE(ProofFrom("no"));
}

TEST(BeforeLook, ReadsBack) {
  BeforeLook look = Replaced().before;
  look.source_sums = {1.25, 3};
  const auto read = BeforeLookFrom(ToJson(look));
  ASSERT_TRUE(read);
  EXPECT_EQ(ToJson(*read), ToJson(look));
  EXPECT_EQ(read->neighbours, look.neighbours);
  EXPECT_FALSE(BeforeLookFrom("[]"));
}

}  // namespace
}  // namespace interlock::backfill
