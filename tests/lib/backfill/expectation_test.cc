// What callers expect, what becomes of a backfill that brings something else, and every way
// out of that.
#include "lib/backfill/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/backfill/totals.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> Pointers(const absl::Status& status) {
  std::vector<std::string> pointers;
  for (const Fault& fault : FaultsOf(status)) pointers.push_back(fault.pointer);
  return pointers;
}

class ExpectationTest : public testing::Test {
 protected:
  // Two hours of three rows, one unit each: 6 rows; n is 0 + 1 + 2 in each.
  BackfillRequest Request() {
    BackfillRequest request;
    request.spec = site_.FilesSpec(13, 15, 3);
    return request;
  }
  absl::Status Refusal(const BackfillRequest& request) {
    return site_.backfills().Submit(request, site_.Caller()).status();
  }
  Backfills::Detail Run(const BackfillRequest& request) {
    const auto submitted = site_.backfills().Submit(request, site_.Caller());
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    id_ = submitted->backfill.id;
    return site_.RunUntilOver(id_);
  }
  // A backfill of which more was expected.
  void Breach() {
    BackfillRequest request = Request();
    request.expected_rows = 7;
    const Backfills::Detail over = Run(request);
    ASSERT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION");
    ASSERT_EQ(over.backfill.reason, "ROWS_DIFFER");
  }
  std::string StateOfPartition(int i) {
    return std::string(NameOf(site_.Partitions(id_)[i].state));
  }
  std::string PhaseNow() { return std::string(NameOf(site_.backfills().Get(id_)->backfill.phase)); }

  BackfillSite site_;
  std::string id_;
};

TEST_F(ExpectationTest, NumbersBelowZeroAreRefusedAllAtOnce) {
  BackfillRequest request = Request();
  request.expected_rows = -1;
  request.min_rows = -2;
  request.max_unparseable = -3;
  const absl::Status status = Refusal(request);
  EXPECT_EQ(ReasonOf(status), "EXPECTATION_INVALID");
  EXPECT_THAT(Pointers(status),
              ElementsAre("/expect/rows", "/expect/min_rows", "/expect/max_unparseable"));
}

TEST_F(ExpectationTest, ContradictionsAreRefusedAndBothFieldsNamed) {
  BackfillRequest request = Request();
  request.min_rows = 4;  // in each of two
  request.expected_rows = 7;
  absl::Status status = Refusal(request);
  EXPECT_EQ(ReasonOf(status), "EXPECTATIONS_CONTRADICT");
  EXPECT_THAT(Pointers(status), ElementsAre("/expect/min_rows", "/expect/rows"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("in each of 2 partition(s)"));
  request.expected_rows = 8;
  EXPECT_TRUE(Refusal(request).ok());

  request = Request();
  request.expected_rows = 6;
  request.expected_partitions = {{Hour(13), 3, {}}, {Hour(14), 4, {}}};
  status = Refusal(request);
  EXPECT_THAT(Pointers(status), ElementsAre("/expect/rows", "/expect/partitions/1/rows"));
}

TEST_F(ExpectationTest, WhatCantBeCheckedIsRefused) {
  BackfillRequest request = Request();
  request.expected_sums = {{"page", 3, true}};
  EXPECT_EQ(ReasonOf(Refusal(request)), "EXPECTATION_NOT_CHECKABLE");
  request = Request();
  request.expected_rows = 6;
  request.level = verify::Level::kVisible;
  EXPECT_EQ(ReasonOf(Refusal(request)), "EXPECTATION_NOT_CHECKABLE");
  request = Request();
  request.expected_partitions = {{Hour(15), 3, {}}};
  EXPECT_THAT(Pointers(Refusal(request)), ElementsAre("/expect/partitions/0/interval"));
}

TEST_F(ExpectationTest, WhatComesAsExpectedIsDone) {
  BackfillRequest request = Request();
  request.expected_rows = 6;
  request.expected_sums = {{"n", 6, true}, {"events", 6, true}};
  request.expected_partitions = {{Hour(13), 3, {{"n", 3, true}}}, {Hour(14), 3, {}}};
  EXPECT_EQ(NameOf(Run(request).backfill.phase), "DONE");
}

TEST_F(ExpectationTest, APartitionThatBringsOtherRowsOrSumsIsSuspectAndNoOther) {
  BackfillRequest request = Request();
  request.expected_partitions = {{Hour(13), 3, {{"n", 4, true}}}};
  const Backfills::Detail over = Run(request);
  EXPECT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION");
  EXPECT_EQ(over.backfill.reason, "SUMS_DIFFER");
  EXPECT_EQ(StateOfPartition(0), "SUSPECT");
  EXPECT_EQ(StateOfPartition(1), "DONE");
  EXPECT_THAT(site_.Partitions(id_)[0].message, HasSubstr("the sum of n is 3, and 4 is expected"));
}

TEST_F(ExpectationTest, OtherSumsOverAllMakeAllSuspect) {
  BackfillRequest request = Request();
  request.expected_sums = {{"n", 5, true}};
  const Backfills::Detail over = Run(request);
  EXPECT_EQ(over.backfill.reason, "SUMS_DIFFER");
  EXPECT_EQ(StateOfPartition(0), "SUSPECT");
  EXPECT_EQ(StateOfPartition(1), "SUSPECT");
}

TEST_F(ExpectationTest, ABreachNamesEveryCommandThatLeadsOn) {
  Breach();
  const std::string message = site_.backfills().Get(id_)->backfill.message;
  EXPECT_THAT(message, HasSubstr("6 rows came in, and 7 were expected"));
  for (const char* verb : {"accept", "rollback", "retry"}) {
    EXPECT_THAT(message, HasSubstr("interlockctl backfills " + std::string(verb) + " " + id_));
  }
}

TEST_F(ExpectationTest, ABreachCanBeAcceptedAsAWholeAndIsDoneThen) {
  Breach();
  const Interval both = *Interval::Of(Hour(13).start(), Hour(14).end());
  const auto accepted = site_.backfills().Accept(id_, {both}, site_.Caller());
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  EXPECT_EQ(NameOf(accepted->phase), "DONE");
  site_.RunUntilOver(id_);
  EXPECT_EQ(PhaseNow(), "DONE");
  EXPECT_EQ(site_.Partitions(id_)[1].proof->accepted_by, "ada");
  EXPECT_EQ(ReasonOf(site_.backfills().Accept(id_, {Hour(13)}, site_.Caller()).status()),
            "NOT_ACCEPTABLE");
}

TEST_F(ExpectationTest, ABreachCanBeRolledBack) {
  site_.Load(13, 8);
  site_.Load(14, 9);
  Breach();
  const auto back = site_.backfills().Rollback(id_, {}, site_.Caller());
  ASSERT_TRUE(back.ok()) << back.status();
  site_.RunUntilOver(id_);
  EXPECT_EQ(PhaseNow(), "ROLLED_BACK");
  EXPECT_EQ(site_.Rows(13), 8);
  EXPECT_EQ(site_.Rows(14), 9);
}

TEST_F(ExpectationTest, ABreachCanBeRunAgainAndIsHeldAgainstTheTotalsAnew) {
  Breach();
  ASSERT_TRUE(site_.backfills().Retry(id_, {State::kSuspect}, {}, site_.Caller()).ok());
  site_.RunUntilOver(id_);
  EXPECT_EQ(PhaseNow(), "NEEDS_ATTENTION");
  EXPECT_THAT(site_.OurTasks(), SizeIs(4));
  site_.FilesSpec(14, 15, 4);  // the row that was missing has come
  ASSERT_TRUE(site_.backfills().Retry(id_, {State::kSuspect}, {}, site_.Caller()).ok());
  site_.RunUntilOver(id_);
  EXPECT_EQ(PhaseNow(), "DONE");
}

TEST_F(ExpectationTest, ABreachCanBeGivenUp) {
  Breach();
  const auto cancelled = site_.backfills().Cancel(id_, site_.Caller());
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(NameOf(cancelled->phase), "CANCELLED");
  EXPECT_THAT(cancelled->message, HasSubstr("interlockctl backfills rollback"));
}

// What failed the one is not what the other was asked for.
TEST_F(ExpectationTest, TheSameWorkWithAnotherExpectationIsABackfillOfItsOwnAfterABreach) {
  Breach();
  const std::string first = id_;
  BackfillRequest request = Request();
  request.expected_rows = 6;
  EXPECT_EQ(NameOf(Run(request).backfill.phase), "DONE");
  EXPECT_NE(id_, first);
  EXPECT_THAT(site_.OurTasks(), SizeIs(4));  // nothing of the breach counted as done
}

TEST_F(ExpectationTest, WhatRunsWithAnotherExpectationIsNotAttachedTo) {
  const auto first = site_.backfills().Submit(Request(), site_.Caller("r1"));
  ASSERT_TRUE(first.ok());
  BackfillRequest request = Request();
  request.expected_rows = 6;
  const auto refused = site_.backfills().Submit(request, site_.Caller("r2"));
  EXPECT_EQ(ReasonOf(refused.status()), "OTHER_EXPECTATION");
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr(first->backfill.id));
  request = Request();
  request.max_parallel = 7;
  const auto attached = site_.backfills().Submit(request, site_.Caller("r3"));
  ASSERT_TRUE(attached.ok());
  EXPECT_TRUE(attached->attached);
  ASSERT_THAT(attached->notices, SizeIs(1));
  EXPECT_THAT(attached->notices[0], HasSubstr("max_parallel"));
}

TEST_F(ExpectationTest, WhatWasDoneBeforeCountsAndWhatIsNotKnownIsSaid) {
  BackfillRequest request = Request();
  Run(request);
  request.expected_rows = 6;
  Backfills::Detail over = Run(request);
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE");
  EXPECT_EQ(over.backfill.reason, "");
  EXPECT_EQ(over.totals.rows, 6);
  EXPECT_THAT(site_.OurTasks(), SizeIs(2));
  request.expected_rows.reset();
  request.expected_sums = {{"n", 6, true}};
  over = Run(request);
  EXPECT_EQ(over.backfill.reason, "EXPECTATION_NOT_CHECKED");
}

TEST_F(ExpectationTest, ReprocessFailedRunsWhatIsSuspectAgain) {
  BackfillRequest request = Request();
  request.min_rows = 4;
  EXPECT_EQ(NameOf(Run(request).backfill.phase), "NEEDS_ATTENTION");
  request.reprocess = Reprocess::kFailed;
  const auto again = site_.backfills().Submit(request, site_.Caller("again"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->attached);
  site_.RunUntilOver(id_);
  EXPECT_THAT(site_.OurTasks(), SizeIs(4));
}

TEST_F(ExpectationTest, ADeadlineOfTheWholeGivesItUp) {
  ASSERT_TRUE(site_.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"stuck_task","times":2})")
                  .ok());
  BackfillRequest request = Request();
  request.deadline = absl::Minutes(2);
  const Backfills::Detail over = Run(request);
  EXPECT_EQ(NameOf(over.backfill.phase), "CANCELLED") << over.backfill.message;
  EXPECT_EQ(over.backfill.reason, "DEADLINE_OVER");
  // Retried, it is not late again at once.
  ASSERT_TRUE(site_.backfills().Retry(id_, {}, {}, site_.Caller()).ok());
  EXPECT_EQ(NameOf(site_.RunUntilOver(id_).backfill.phase), "DONE");
}

TEST_F(ExpectationTest, Case138RowsThatLieOutsideOfTheUnitAreTold) {
  BackfillRequest request;
  request.spec = Edited(BackfillSite::InlineSpec(13, 15, 3),
                        {{"/spec/dataSchema/granularitySpec/intervals",
                          R"(["2026-07-16T13:00:00Z/2026-07-16T14:00:00Z"])"}});
  EXPECT_EQ(NameOf(Run(request).backfill.phase), "DONE");
  EXPECT_EQ(site_.Rows(13), 3);
  EXPECT_THAT(site_.Partitions(id_)[0].proof->notes,
              testing::Contains(HasSubstr("ROWS_THROWN_AWAY: 3 rows")));
}

// How long a request id lives is a setting.
TEST_F(ExpectationTest, ARequestIdEndsSomeTimeAfterItsBackfillAndNamesAnotherThen) {
  const auto first = site_.backfills().Submit(Request(), site_.Caller("nightly"));
  site_.RunUntilOver(first->backfill.id);
  site_.clock().Advance(absl::Hours(23));
  EXPECT_EQ(site_.backfills().Submit(Request(), site_.Caller("nightly"))->backfill.id,
            first->backfill.id);
  site_.clock().Advance(absl::Hours(2));
  const auto second = site_.backfills().Submit(Request(), site_.Caller("nightly"));
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(second->attached);
  EXPECT_NE(second->backfill.id, first->backfill.id);
}

}  // namespace
}  // namespace interlock::backfill
