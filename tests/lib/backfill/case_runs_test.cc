// Rows of the field's cases that concern running, each by its number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void Fault(BackfillSite& site, const char* kind, int times = 1) {
  ASSERT_TRUE(site.simulator()
                  .AddFault(absl::StrCat(
                      R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},"kind":")",
                      kind, R"(","times":)", times, "}"))
                  .ok());
}

void Lock(BackfillSite& site, const std::string& group, int hour) {
  site.simulator().Ask("POST", "/simulator/locks",
                       R"({"group":")" + group + R"(","datasource":"clicks","interval":")" +
                           Hour(hour).ToString() + R"(","priority":75,"type":"EXCLUSIVE"})");
}

std::vector<std::string> StatesOf(BackfillSite& site, const std::string& id) {
  std::vector<std::string> states;
  for (const auto& partition : site.Partitions(id)) {
    states.emplace_back(NameOf(partition.state));
  }
  return states;
}

// Days of which one is empty: an umbrella lock over all of them met the task's own small ones.
TEST(RunCases, Case036AnEmptyPartitionAmongOthersIsRecordedAndHoldsNoneUp) {
  BackfillSite site;
  const std::string spec = site.FilesSpec(13, 16, 3);
  site.FilesSpec(14, 15, 0);
  const std::string id = site.Submit(spec);
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_THAT(StatesOf(site, id), ElementsAre("DONE", "EMPTY", "DONE"));
  // Each task has the lock of its own hour, and no more.
  for (const auto& partition : site.Partitions(id)) {
    const auto attempts = site.backfills().ListAttempts(id, partition.unit);
    ASSERT_THAT(*attempts, SizeIs(1));
    for (const auto& [interval, version] : attempts->front().locks) {
      EXPECT_EQ(interval, partition.partition);
    }
  }
}

TEST(RunCases, Case039AStreamsLockIsToldAtOnceAndNoTaskIsParkedBehindIt) {
  BackfillSite site;
  Lock(site, "index_kafka_clicks", 13);
  BackfillRequest request;
  request.spec = site.FilesSpec(13, 15, 3);
  const auto plan = site.backfills().MakePlan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->partitions[0].obstacles, SizeIs(1));
  const Obstacle& obstacle = plan->partitions[0].obstacles[0];
  EXPECT_EQ(obstacle.kind, "DRUID_LOCK");
  EXPECT_EQ(obstacle.holder, "index_kafka_clicks");
  EXPECT_EQ(obstacle.priority, 75);
  EXPECT_EQ(plan->partitions[1].action, PlannedPartition::Action::kRun);
  const std::string id = site.Submit(request.spec);
  site.RunUntilOver(id, absl::Seconds(10));
  EXPECT_THAT(StatesOf(site, id), ElementsAre("RESERVED", "DONE"));
  EXPECT_THAT(site.OurTasks(), SizeIs(1));  // of the hour that is free
}

// A task of somebody's takes the lock between the look and ours, which waits for ever in
// Druid. What waits for a stream gives up instead (tails_test.cc).
TEST(RunCases, Case040ATaskThatWaitsForALockIsGivenUpAndItsHourTriedAgainLater) {
  BackfillSite site;
  site.transport().Before([&](const druid::HttpRequest& request) {
    if (!absl::StrContains(request.body, "index_parallel")) return;
    site.transport().Before(nullptr);
    Lock(site, "index_other", 13);
  });
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 8);
  request.waiting_deadline = absl::Seconds(20);
  const std::string id = site.backfills().Submit(request, site.Caller())->backfill.id;
  site.RunUntilOver(id, absl::Seconds(60));
  EXPECT_EQ(site.Partitions(id)[0].reason, "DRUID_LOCK");
  EXPECT_FALSE(site.Held(Hour(13)).empty());  // it keeps its time meanwhile
  site.simulator().Ask("DELETE", "/simulator/locks/index_other");
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_EQ(site.Rows(13), 8);
}

TEST(RunCases, Case073AnOverlordThatAnswersNothingForTwentyMinutesChangesNoState) {
  BackfillSite site;
  const std::string id = site.Submit(site.FilesSpec(13, 15, 3));
  site.StepOnce();
  const auto before = StatesOf(site, id);
  site.transport().SpoilBy([](int64_t, const druid::HttpRequest&) { return Spoil::kServerError; });
  site.RunUntilOver(id, absl::Minutes(20));
  EXPECT_EQ(StatesOf(site, id), before);
  EXPECT_FALSE(site.Held(Hour(13)).empty());
  site.transport().SpoilBy(nullptr);
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_THAT(site.OurTasks(), SizeIs(2));
}

TEST(RunCases, Case074ATaskThatIsCalledFailedAndHasPublishedIsNotRunAgain) {
  BackfillSite site;
  Fault(site, "failed_but_published");
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
  EXPECT_EQ(site.backfills().ListAttempts(id, 0)->front().druid_status, "FAILED");
}

// Queueing is no running: a task that waits for longer than it may run is left alone.
TEST(RunCases, Case079TheTimeThatATaskMayRunIsMeasuredFromItsStart) {
  BackfillSite site;
  site.transport().Before([&](const druid::HttpRequest& request) {
    if (!absl::StrContains(request.body, "index_parallel")) return;
    site.transport().Before(nullptr);
    Lock(site, "index_other", 13);
  });
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 8);
  request.run_deadline = absl::Seconds(10);
  const std::string id = site.backfills().Submit(request, site.Caller())->backfill.id;
  site.RunUntilOver(id, absl::Minutes(2));
  EXPECT_THAT(StatesOf(site, id), ElementsAre("RUNNING"));
  EXPECT_FALSE(site.backfills().ListAttempts(id, 0)->front().running);
  EXPECT_FALSE(site.backfills().ListAttempts(id, 0)->front().shutdown_asked);
  site.simulator().Ask("DELETE", "/simulator/locks/index_other");
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
}

// What changed since a revision is one read, so that nobody has to poll for all of it.
TEST(RunCases, Case088AWatchIsToldWhatChangedAndNothingElse) {
  BackfillSite site;
  const std::string id = site.Submit(site.FilesSpec(13, 15, 3));
  auto news = site.backfills().NewsSince(id, 0);
  ASSERT_TRUE(news.ok());
  EXPECT_THAT(news->partitions, SizeIs(2));
  news = site.backfills().NewsSince(id, news->revision);
  EXPECT_THAT(news->partitions, IsEmpty());
  EXPECT_FALSE(news->changed);
  site.RunUntilOver(id);
  news = site.backfills().NewsSince(id, news->revision);
  EXPECT_THAT(news->partitions, SizeIs(2));
  EXPECT_EQ(news->partitions[0].attempts, 1);
  EXPECT_FALSE(news->partitions[0].task_id.empty());
}

TEST(RunCases, Case089TheDeadlineIsTheServersAndComesWithTheRequest) {
  BackfillSite site;
  Fault(site, "stuck_task", 3);
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 8);
  request.deadline = absl::Minutes(1);
  const std::string id = site.backfills().Submit(request, site.Caller())->backfill.id;
  const Instant start = site.clock().Now();
  const Backfills::Detail over = site.RunUntilOver(id);  // nobody asks in between
  EXPECT_EQ(over.backfill.reason, "DEADLINE_OVER");
  EXPECT_LT(site.clock().Now() - start, absl::Minutes(2));
}

// A scheduler that was killed after its submit, and its next try.
TEST(RunCases, Case090ATwinAttachesToTheTaskThatRuns) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  const std::string id = site.Submit(spec, "dag/2026-07-16T13");
  site.StepOnce();
  BackfillRequest request;
  request.spec = spec;
  const auto twin = site.backfills().Submit(request, site.Caller("dag/2026-07-16T13"));
  ASSERT_TRUE(twin.ok());
  EXPECT_TRUE(twin->attached);
  EXPECT_EQ(twin->backfill.id, id);
  site.RunUntilOver(id);
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
}

TEST(RunCases, Case093OneErrorAmongManyPollsStartsNothingAgain) {
  BackfillSite site;
  int polls = 0;
  site.transport().SpoilBy([&](int64_t, const druid::HttpRequest& request) {
    if (!absl::StrContains(request.url, "/taskStatus")) return Spoil::kNot;
    return ++polls == 2 ? Spoil::kErrorAfter : Spoil::kNot;
  });
  const std::string id = site.Submit(site.FilesSpec(0, 4, 3));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_GE(polls, 2);
  EXPECT_THAT(site.OurTasks(), SizeIs(4));
}

TEST(RunCases, Case096WhatWasRunBeforeIsRunAgainAsAnotherAttemptWhereThatIsSaid) {
  BackfillSite site;
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 8);
  const auto first = site.backfills().Submit(request, site.Caller("r"));
  site.RunUntilOver(first->backfill.id);
  request.reprocess = Reprocess::kAll;
  const auto again = site.backfills().Submit(request, site.Caller("r"));
  ASSERT_TRUE(again.ok()) << again.status();
  site.RunUntilOver(again->backfill.id);
  EXPECT_THAT(site.Partitions(again->backfill.id), SizeIs(1));
  const auto attempts = site.backfills().ListAttempts(again->backfill.id, 0);
  ASSERT_THAT(*attempts, SizeIs(2));
  EXPECT_EQ((*attempts)[1].number, 2);
}

// Its reply was lost, and the client asks until it has one.
TEST(RunCases, TheSameRequestForAllIsRunOnce) {
  BackfillSite site;
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 8);
  request.reprocess = Reprocess::kAll;
  for (int time = 0; time < 3; ++time) {
    const auto made = site.backfills().Submit(request, site.Caller("r"));
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ(NameOf(site.RunUntilOver(made->backfill.id).backfill.phase), "DONE");
    EXPECT_THAT(site.OurTasks(), SizeIs(1));
  }
}

// The retry's segments have the names of the attempt that died: cleaning up after the one may
// not touch the other.
TEST(RunCases, Case140AnAttemptIsNumberedAndARollbackTakesOnlyItsOwnSegments) {
  BackfillSite site;
  site.Load(13, 5);
  Fault(site, "failed_task");
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.RunUntilOver(id);
  const auto attempts = site.backfills().ListAttempts(id, 0);
  ASSERT_THAT(*attempts, SizeIs(2));
  EXPECT_NE((*attempts)[0].task_id, (*attempts)[1].task_id);
  const auto proof = site.Partitions(id)[0].proof;
  EXPECT_EQ(proof->task_id, (*attempts)[1].task_id);
  // A later backfill is over it: what the first wrote can't be taken away under it.
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 9);
  const auto later = site.backfills().Submit(request, site.Caller());
  site.RunUntilOver(later->backfill.id);
  EXPECT_EQ(ReasonOf(site.backfills().Rollback(id, {}, site.Caller()).status()),
            "NOT_NEWEST_GENERATION");
  EXPECT_EQ(site.Rows(13), 9);
}

// A proxy that sends a POST twice when it has lost the reply.
TEST(RunCases, Case142APostThatIsReplayedMakesOneTaskAndOneCopy) {
  BackfillSite site;
  site.transport().After([&](const druid::HttpRequest& request) {
    if (!absl::StrContains(request.body, "index_parallel")) return;
    const auto again = site.simulator().Ask("POST", "/druid/indexer/v1/task", request.body);
    EXPECT_EQ(again.status, 400) << again.body;
  });
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_EQ(site.Rows(13), 8);
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
}

// Each option of a request is seen in what is stored, or refused.
TEST(RunCases, Case143NoOptionIsTakenAndForgotten) {
  BackfillSite site;
  BackfillRequest request;
  request.spec = site.FilesSpec(13, 15, 3);
  request.max_parallel = 3;
  request.max_attempts = 5;
  request.newest_first = true;
  request.skip_held = true;
  request.waiting_deadline = absl::Minutes(3);
  request.run_deadline = absl::Minutes(4);
  request.deadline = absl::Minutes(50);
  request.rollback_window = absl::Minutes(6);
  request.expected_rows = 6;
  request.min_rows = 2;
  request.max_unparseable = 7;
  request.labels = {{"team", "ads"}};
  request.purpose = "a purpose";
  const auto submitted = site.backfills().Submit(request, site.Caller());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  site.Restart();
  const Backfill stored = site.backfills().Get(submitted->backfill.id)->backfill;
  EXPECT_EQ(stored.max_parallel, 3);
  EXPECT_EQ(stored.max_attempts, 5);
  EXPECT_TRUE(stored.newest_first);
  EXPECT_TRUE(stored.skip_held);
  EXPECT_EQ(stored.waiting_deadline, absl::Minutes(3));
  EXPECT_EQ(stored.run_deadline, absl::Minutes(4));
  EXPECT_EQ(*stored.deadline, stored.created + absl::Minutes(50));
  EXPECT_EQ(stored.rollback_window, absl::Minutes(6));
  EXPECT_EQ(stored.expected_rows, 6);
  EXPECT_EQ(stored.terms.min_rows, 2);
  EXPECT_EQ(stored.terms.max_unparseable, 7);
  EXPECT_EQ(stored.labels.at("team"), "ads");
  EXPECT_EQ(stored.purpose, "a purpose");
}

// One slow task of four does not keep the slots of the other three empty.
TEST(RunCases, Case145AFreedSlotTakesTheNextPartitionAtOnce) {
  BackfillSite site;
  Fault(site, "stuck_task");
  BackfillRequest request;
  request.spec = site.FilesSpec(0, 12, 3);
  request.max_parallel = 4;
  const std::string id = site.backfills().Submit(request, site.Caller())->backfill.id;
  site.RunUntilOver(id, absl::Minutes(1));
  std::set<std::string> done;
  for (const auto& partition : site.Partitions(id)) {
    if (partition.state == State::kDone) done.insert(partition.partition.ToString());
  }
  EXPECT_THAT(done, SizeIs(11));  // all but the slow one
  EXPECT_THAT(StatesOf(site, id), Contains("RUNNING"));
}

}  // namespace
}  // namespace interlock::backfill
