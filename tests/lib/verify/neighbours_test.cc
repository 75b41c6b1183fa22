#include "lib/verify/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/verify/made_segments.h"

namespace interlock::verify {
namespace {

using druid::Segment;
using druid::Timeline;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kBefore[] = "2026-07-16T12:00:00Z/2026-07-16T13:00:00Z";
constexpr char kUnit[] = "2026-07-16T13:00:00Z/2026-07-16T14:00:00Z";
constexpr char kAfter[] = "2026-07-16T14:00:00Z/2026-07-16T15:00:00Z";
constexpr char kV1[] = "2026-07-16T16:00:00.000Z";
constexpr char kV2[] = "2026-07-16T17:00:00.000Z";

Granularity Named(const char* name) { return *Granularity::FromName(name); }

NeighbourQuestion QuestionOf(const std::vector<Segment>& before) {
  NeighbourQuestion question;
  question.intervals = {Of(kBefore), Of(kAfter)};
  question.before = VisibleSetOf(Timeline::Of(before), question.intervals).segments;
  return question;
}

TEST(Neighbours, AreOnePartitionOnEitherSide) {
  EXPECT_THAT(NeighboursOf({Of(kUnit)}, Named("HOUR"), {}), ElementsAre(Of(kBefore), Of(kAfter)));
}

TEST(Neighbours, ChangesAreToldByChunkAndVersionWithWhoDidThem) {
  NeighbourQuestion question =
      QuestionOf({Numbered(kBefore, kV1, 0, 2), Numbered(kBefore, kV1, 1, 2)});
  question.known = {{Of(kBefore), At(kV2) - absl::Minutes(1), std::nullopt, "attempt 1 of bf-7"}};
  const NeighbourChanges changes =
      CompareNeighbours(Timeline::Of({Numbered(kBefore, kV2, 0, 2), Numbered(kBefore, kV2, 1, 2),
                                      Numbered(kAfter, kV2, 0, 1)}),
                        question);
  ASSERT_THAT(changes.changes, SizeIs(2));
  const NeighbourChange& ours = changes.changes[0];
  EXPECT_EQ(ours.interval, Of(kBefore));
  EXPECT_EQ(NameOf(ours.cause), "OURS_INTENDED");
  EXPECT_EQ(ours.version_before, kV1);
  EXPECT_EQ(ours.version_after, kV2);
  EXPECT_EQ(ours.attributed_to, "attempt 1 of bf-7");
  EXPECT_EQ(NameOf(changes.changes[1].cause), "UNEXPLAINED");
  EXPECT_EQ(changes.changes[1].version_before, "");
  EXPECT_EQ(Names(changes.findings), std::vector<std::string>{"FOREIGN_WRITE"});
}

TEST(Neighbours, WhatARetentionRuleDropsIsNobodysWrite) {
  NeighbourQuestion question = QuestionOf({Numbered(kAfter, kV1, 0, 1)});
  const auto rules = druid::Rules::Parse(
      R"([{"type":"dropByInterval","interval":"2026-07-16T14/2026-07-16T15"}])");
  ASSERT_TRUE(rules.ok());
  EXPECT_THAT(CompareNeighbours(Timeline::Of({}), question).findings, SizeIs(1));
  question.rules = &*rules;
  const NeighbourChanges changes = CompareNeighbours(Timeline::Of({}), question);
  EXPECT_THAT(changes.findings, IsEmpty());
  ASSERT_THAT(changes.changes, SizeIs(1));
  EXPECT_EQ(NameOf(changes.changes[0].cause), "RULE_OR_DUTY");
  EXPECT_EQ(CauseOf("RULE_OR_DUTY"), NeighbourChange::Cause::kRuleOrDuty);
}

TEST(Neighbours, OfAUnitWithAGapLieInTheGapToo) {
  const std::vector<Interval> unit = {Of(kBefore), Of(kAfter)};
  EXPECT_THAT(NeighboursOf(unit, Named("HOUR"), {}),
              ElementsAre(Of("2026-07-16T11:00:00Z/2026-07-16T12:00:00Z"), Of(kUnit),
                          Of("2026-07-16T15:00:00Z/2026-07-16T16:00:00Z")));
}

TEST(Neighbours, Case018AreAllOfASegmentThatSticksOut) {
  const Segment month = Numbered("2020-01-01/2020-02-01", kV1, 0, 1);
  EXPECT_THAT(NeighboursOf({Of("2020-01-10/2020-01-11")}, Named("DAY"), {month}),
              ElementsAre(Of("2020-01-01/2020-01-10"), Of("2020-01-11/2020-02-01")));
}

TEST(Neighbours, Case018AreTheSameWhereAMonthIsOnlyShadowedInTheMiddle) {
  const Segment month = Numbered("2020-01-01/2020-02-01", kV1, 0, 1);
  const Segment day = Numbered("2020-01-10/2020-01-11", kV2, 0, 1);
  const auto around = NeighboursOf({day.interval}, Named("DAY"), {month});
  NeighbourQuestion question;
  question.intervals = around;
  question.own_versions = {kV2};
  const VisibleSet before = VisibleSetOf(Timeline::Of({month}), around);
  question.before = before.segments;
  const Timeline after = Timeline::Of({month, day});
  EXPECT_EQ(VisibleSetOf(after, around).digest, before.digest);
  EXPECT_THAT(CompareNeighbours(after, question).findings, IsEmpty());
}

TEST(Neighbours, HaveADigestThatChangesWithAnyId) {
  const std::vector<Interval> around = {Of(kBefore)};
  const VisibleSet one = VisibleSetOf(Timeline::Of({Numbered(kBefore, kV1, 0, 1)}), around);
  const VisibleSet other = VisibleSetOf(Timeline::Of({Numbered(kBefore, kV2, 0, 1)}), around);
  EXPECT_NE(one.digest, other.digest);
  EXPECT_THAT(one.digest, SizeIs(64));
}

TEST(Neighbours, ThatOurTaskWroteAreAFaultOfOurs) {
  NeighbourQuestion question = QuestionOf({Numbered(kAfter, kV1, 0, 1)});
  question.own_versions = {kV2};
  const auto changes = CompareNeighbours(
      Timeline::Of({Numbered(kAfter, kV1, 0, 1), Numbered(kAfter, kV2, 0, 1)}), question);
  EXPECT_THAT(Names(changes.findings), ElementsAre("NEIGHBOUR_CHANGED"));
}

TEST(Neighbours, ThatNothingExplainsAreAForeignWrite) {
  const NeighbourQuestion question = QuestionOf({Numbered(kAfter, kV1, 0, 1)});
  const auto changes = CompareNeighbours(
      Timeline::Of({Numbered(kAfter, kV1, 0, 1), Numbered(kAfter, kV2, 0, 1)}), question);
  EXPECT_THAT(Names(changes.findings), ElementsAre("FOREIGN_WRITE"));
}

TEST(Neighbours, ThatAnotherAttemptOfOursWroteAreExplained) {
  NeighbourQuestion question = QuestionOf({Numbered(kAfter, kV1, 0, 1)});
  question.known = {{Of(kAfter), At("2026-07-16T16:59:00Z"), std::nullopt, "attempt 1 of b-2"}};
  const Timeline after = Timeline::Of({Numbered(kAfter, kV2, 0, 1)});
  const auto changes = CompareNeighbours(after, question);
  EXPECT_THAT(changes.findings, IsEmpty());
  EXPECT_THAT(changes.explained, ElementsAre(HasSubstr("attempt 1 of b-2")));

  question.known[0].until = At("2026-07-16T16:59:30Z");  // it was over before that version
  EXPECT_THAT(Names(CompareNeighbours(after, question).findings), ElementsAre("FOREIGN_WRITE"));
  question.known[0] = {Of(kBefore), At("2026-07-16T16:59:00Z"), std::nullopt, "elsewhere"};
  EXPECT_THAT(Names(CompareNeighbours(after, question).findings), ElementsAre("FOREIGN_WRITE"));
}

TEST(Neighbours, ThatAStreamAppendedToOrDruidCompactedAreExplained) {
  const NeighbourQuestion question = QuestionOf({Numbered(kAfter, kV1, 0, 1)});
  const auto appended = CompareNeighbours(
      Timeline::Of({Numbered(kAfter, kV1, 0, 1), Numbered(kAfter, kV1, 1, 1)}), question);
  EXPECT_THAT(appended.findings, IsEmpty());
  EXPECT_THAT(appended.explained, ElementsAre(HasSubstr("stream")));

  Segment compacted = Numbered(kAfter, kV2, 0, 1);
  compacted.compacted = true;
  const auto changes = CompareNeighbours(Timeline::Of({compacted}), question);
  EXPECT_THAT(changes.findings, IsEmpty());
  EXPECT_THAT(changes.explained, ElementsAre(HasSubstr("compacted")));
}

TEST(Neighbours, ThatVanishAreAForeignWriteUnlessKnown) {
  NeighbourQuestion question = QuestionOf({Numbered(kAfter, kV1, 0, 1)});
  EXPECT_THAT(Names(CompareNeighbours(Timeline::Of({}), question).findings),
              ElementsAre("FOREIGN_WRITE"));
  question.known = {{Of(kAfter), At("2026-07-16T16:59:00Z"), std::nullopt, "drop d-1"}};
  EXPECT_THAT(CompareNeighbours(Timeline::Of({}), question).explained,
              ElementsAre(HasSubstr("drop d-1")));
}

}  // namespace
}  // namespace interlock::verify
