// Field cases of loading, late commits and copies inside a version; the other rows that
// concern verdicts stand in partition_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/druid/rules.h"
#include "lib/verify/partition.h"
#include "lib/verify/repeats.h"
#include "tests/lib/verify/made_segments.h"

namespace interlock::verify {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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
const Finding& Only(const PartitionVerdict& verdict, Verdict kind) {
  static const Finding kNone;
  for (const Finding& finding : verdict.findings) {
    if (finding.verdict == kind) return finding;
  }
  ADD_FAILURE() << "no " << std::string(NameOf(kind));
  return kNone;
}

// A guard's append that was allocated under the version before: published, and hidden.
TEST(VerifyPartition, Case005RowsCommittedUnderAReplacedVersionAreMissing) {
  druid::Snapshot snapshot =
      SnapshotOf(kHour, {Numbered(kHour, kOld, 1, 1), Numbered(kHour, kNew, 0, 1)});
  snapshot.rows = {Rows(kHour, 100, 100)};
  PartitionQuestion question = AskFor(kHour);
  question.expected_rows = 103;
  question.expected_from = "the backfill and the guard";
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_THAT(Names(verdict.findings), Contains("MISSING_ROWS"));
  EXPECT_THAT(verdict.hidden_versions, ElementsAre(kOld)) << "where they are";
}

TEST(VerifyPartition, Case082ARuleWithoutReplicasNeverLoadsThoughDruidCallsItLoaded) {
  const auto rules = *druid::Rules::Parse(R"([{"type":"loadForever","tieredReplicants":{}}])");
  const druid::Snapshot snapshot = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  PartitionQuestion question = AskFor(kHour);
  question.rules = &rules;
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_EQ(Only(verdict, Verdict::kNeverLoads).reason, "ZERO_REPLICAS");
  EXPECT_FALSE(verdict.good());
  question.level = Level::kVisible;
  EXPECT_TRUE(Ask(snapshot, question).good()) << "loading is no matter of that level";
}

TEST(VerifyPartition, ADropRuleAndNoRuleAreToldApart) {
  const druid::Snapshot snapshot = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  PartitionQuestion question = AskFor(kHour);
  const auto drop = *druid::Rules::Parse(R"([{"type":"dropForever"}])");
  question.rules = &drop;
  EXPECT_EQ(Only(Ask(snapshot, question), Verdict::kNeverLoads).reason, "DROP_RULE");
  const auto none = *druid::Rules::Parse("[]");
  question.rules = &none;
  EXPECT_EQ(Only(Ask(snapshot, question), Verdict::kNeverLoads).reason, "NO_RULE");
}

// What waits for a historical is not called hopeless, and what is hopeless not waited for.
TEST(VerifyPartition, NotLoadedAndNeverLoadsAreToldApart) {
  druid::Snapshot snapshot = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  snapshot.load.unavailable_segments = 1;
  PartitionQuestion question = AskFor(kHour);
  const auto loads = *druid::Rules::Parse(R"([{"type":"loadForever"}])");
  question.rules = &loads;
  EXPECT_THAT(Names(Ask(snapshot, question).findings), Contains("NOT_LOADED"));
  const auto none = *druid::Rules::Parse("[]");
  question.rules = &none;
  EXPECT_THAT(Names(Ask(snapshot, question).findings), Not(Contains("NOT_LOADED")));
}

TEST(VerifyPartition, Case084SuccessIsNoWordOnLoading) {
  druid::Snapshot snapshot = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  snapshot.load.unavailable_segments = 1;
  PartitionQuestion question = AskFor(kHour);
  question.expected_version = kNew;
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_THAT(Names(verdict.findings), Contains("NOT_LOADED"));
  EXPECT_FALSE(verdict.good());
}

TEST(VerifyPartition, Case087WhereNothingIsThereIsNothingToWaitFor) {
  const PartitionVerdict verdict = Ask(SnapshotOf(kHour, {}), AskFor(kHour));
  EXPECT_THAT(Names(verdict.findings), ElementsAre("EMPTY"));
  EXPECT_TRUE(verdict.good());
}

TEST(VerifyPartition, AtLevelRetiredAnOlderVersionThatIsUsedIsAFault) {
  const druid::Snapshot snapshot =
      SnapshotOf(kHour, {Numbered(kHour, kOld, 0, 1), Numbered(kHour, kNew, 0, 1)});
  PartitionQuestion question = AskFor(kHour);
  EXPECT_TRUE(Ask(snapshot, question).good());
  question.level = Level::kRetired;
  const PartitionVerdict verdict = Ask(snapshot, question);
  EXPECT_THAT(Only(verdict, Verdict::kNotRetired).evidence, HasSubstr(kOld));
  EXPECT_FALSE(verdict.good());
  const druid::Snapshot retired = SnapshotOf(kHour, {Numbered(kHour, kNew, 0, 1)});
  EXPECT_TRUE(Ask(retired, question).good());
}

SegmentSums Sums(const druid::Segment& segment, int64_t rows, double events) {
  return {&segment, Rows(kHour, rows, events)};
}

TEST(Weigh, Case001EqualRowsAndSumsAreTheSameRowsTwice) {
  const auto one = Numbered(kHour, kOld, 0, 0, 61'000);
  const auto two = Numbered(kHour, kOld, 1, 0, 61'000);
  const auto timeline = druid::Timeline::Of({one, two});
  const auto sign = LookForRepeats(timeline.Visible(Of(kHour)));
  ASSERT_TRUE(sign.has_value());
  EXPECT_EQ(sign->reason, "EQUAL_SIZE");
  const auto sure = Weigh({Sums(one, 10, 1000), Sums(two, 10, 1000)});
  ASSERT_TRUE(sure.has_value());
  EXPECT_EQ(sure->reason, "EQUAL_SUMS");
  EXPECT_TRUE(IsFault(*sure));
  EXPECT_THAT(sure->segments, ElementsAre(one.id, two.id));
  EXPECT_FALSE(Weigh({Sums(one, 10, 1000), Sums(two, 10, 999)}).has_value())
      << "sizes that are equal by chance";
}

TEST(Weigh, AnAppendOfAllThatAReplaceWroteIsFoundThoughItIsCutOtherwise) {
  const auto core0 = Numbered(kHour, kNew, 0, 2);
  const auto core1 = Numbered(kHour, kNew, 1, 2);
  const auto appended = Numbered(kHour, kNew, 2, 2);
  const auto twice = Weigh({Sums(core0, 3, 30), Sums(core1, 4, 40), Sums(appended, 7, 70)});
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(twice->reason, "EQUAL_SUMS");
  EXPECT_THAT(twice->segments, ElementsAre(appended.id));
  const auto late = Weigh({Sums(core0, 3, 30), Sums(core1, 4, 40), Sums(appended, 1, 2)});
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->reason, "OTHER_SUMS");
  EXPECT_FALSE(IsFault(*late)) << "late rows look like this";
}

TEST(Weigh, SegmentsWithoutRowsAreNoCopies) {
  const auto one = Numbered(kHour, kOld, 0, 0, 61'000);
  const auto two = Numbered(kHour, kOld, 1, 0, 61'000);
  EXPECT_FALSE(Weigh({Sums(one, 0, 0), Sums(two, 0, 0)}).has_value());
}

// An append that was cut otherwise adds doubles up in another order.
TEST(Weigh, SumsOfDoublesAreTheSameButForTheirLastDigits) {
  const auto core = Numbered(kHour, kNew, 0, 1);
  const auto appended0 = Numbered(kHour, kNew, 1, 1);
  const auto appended1 = Numbered(kHour, kNew, 2, 1);
  const auto twice = Weigh({Sums(core, 900, 180'112.3299999999), Sums(appended0, 400, 80'112.33),
                            Sums(appended1, 500, 100'000)});
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(twice->reason, "EQUAL_SUMS");
  EXPECT_TRUE(IsFault(*twice));
  const auto other = Weigh({Sums(core, 900, 180'112.33), Sums(appended0, 400, 80'112.34),
                            Sums(appended1, 500, 100'000)});
  EXPECT_EQ(other->reason, "OTHER_SUMS");
}

// A row each, of two tasks of a stream, with the same amount.
TEST(Weigh, EqualSumsOfAFewRowsAreAWeakSign) {
  const auto one = Numbered(kHour, kOld, 0, 0, 1'474);
  const auto two = Numbered(kHour, kOld, 1, 0, 1'474);
  const auto weak = Weigh({Sums(one, 1, 100), Sums(two, 1, 100)});
  ASSERT_TRUE(weak.has_value());
  EXPECT_FALSE(IsFault(*weak));
  EXPECT_THAT(weak->next, HasSubstr("nothing, unless"));
}

// Partitions that are cut at so many rows, hosts that all beat once a minute: as many rows as
// each other, and nothing else to tell them apart.
TEST(Weigh, EqualNumbersOfRowsAloneAreAWeakSign) {
  const auto one = Numbered(kHour, kOld, 0, 2, 61'000);
  const auto two = Numbered(kHour, kOld, 1, 2, 61'000);
  const auto weak = Weigh({Sums(one, 5'000, 5'000), Sums(two, 5'000, 5'000)});
  ASSERT_TRUE(weak.has_value());
  EXPECT_FALSE(IsFault(*weak));
  const auto appended = Numbered(kHour, kOld, 2, 2, 61'000);
  EXPECT_TRUE(IsFault(*Weigh({Sums(one, 5'000, 5'000), Sums(appended, 5'000, 5'000)})))
      << "what was replaced came again behind it";
}

TEST(Weigh, RowsOfOtherTimesAreOthers) {
  const auto one = Numbered(kHour, kOld, 0, 0, 61'000);
  const auto two = Numbered(kHour, kOld, 1, 0, 61'000);
  SegmentSums early = Sums(one, 60, 900);
  SegmentSums late = Sums(two, 60, 900);
  early.sums.sums[kTime] = 60 * 1.784e12;
  late.sums.sums[kTime] = 60 * 1.784e12 + 60'000;
  EXPECT_FALSE(Weigh({early, late}).has_value());
}

// What is in the rows decides which of these they are in: two can't have the same.
TEST(LookForRepeats, HashedPartitionsOfEqualSizeAreNoSign) {
  auto one = Numbered(kHour, kOld, 0, 2, 61'000);
  auto two = Numbered(kHour, kOld, 1, 2, 61'000);
  for (const char* type : {"hashed", "single", "range"}) {
    one.shard.type = two.shard.type = type;
    const auto timeline = druid::Timeline::Of({one, two});
    EXPECT_FALSE(LookForRepeats(timeline.Visible(Of(kHour))).has_value()) << type;
    EXPECT_FALSE(Weigh({Sums(one, 100, 1'000), Sums(two, 100, 1'000)}).has_value()) << type;
  }
}

// One late row behind a day of many partitions.
TEST(ToWeigh, OfManySegmentsTheSignsAreSummedAloneAndTheRestTogether) {
  std::vector<druid::Segment> segments;
  for (int i = 0; i < 40; ++i) segments.push_back(Numbered(kHour, kOld, i, 40, 50'000 + i));
  segments.push_back(Numbered(kHour, kOld, 40, 40, 1'477));
  const auto timeline = druid::Timeline::Of(segments);
  const auto slices = timeline.Visible(Of(kHour));
  const auto sign = LookForRepeats(slices);
  ASSERT_TRUE(sign.has_value());
  const Weighing weighing = ToWeigh(*sign, slices.front());
  ASSERT_EQ(weighing.single.size(), 1u);
  EXPECT_EQ(weighing.single[0]->id, segments.back().id);
  EXPECT_EQ(weighing.core.size(), 40u);
  Totals totals{Rows(kHour, 400, 4'000), Rows(kHour, 1, 3), {segments.back().id}};
  const auto late = Weigh({Sums(segments.back(), 1, 3)}, totals);
  EXPECT_EQ(late->reason, "OTHER_SUMS");
  totals.appended = totals.core;
  EXPECT_TRUE(IsFault(*Weigh({Sums(segments.back(), 400, 4'000)}, totals)));
}

}  // namespace
}  // namespace interlock::verify
