// What streams may still write, against backfills that reach into it.
#include "lib/lease/tails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/time/status_reason.h"
#include "tests/lib/backfill/stream_site.h"

namespace interlock::backfill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Tails, AnUnboundedOneRefusesWithTheOneCommandThatDeclaresOne) {
  StreamSite site;
  const auto refused = site.TrySubmit(site.FilesSpec(10, 11, 3), {});
  EXPECT_EQ(ReasonOf(refused.status()), "UNBOUNDED_TAIL");
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("interlockctl streams register clicks --tail P2D"));
}

TEST(Tails, OneThatIsReachedIntoRefusesWithTheBoundaryAndTheLargestIntervalThatWouldDo) {
  StreamSite site(kLateTwoHours);
  const auto refused = site.TrySubmit(site.FilesSpec(9, 13, 3), {});
  EXPECT_EQ(ReasonOf(refused.status()), "TAIL");
  const Metadata about = MetadataOf(refused.status());
  EXPECT_EQ(about.at("stream"), "clicks");
  // The task was made a second after the supervisor was posted.
  EXPECT_EQ(about.at("boundary"), "2026-07-16T11:00:01.000Z");
  EXPECT_EQ(about.at("largest_interval"), "2026-07-16T09:00:00.000Z/2026-07-16T11:00:00.000Z");
  EXPECT_TRUE(site.TrySubmit(site.FilesSpec(9, 11, 3), {}).ok());
}

TEST(Tails, WhatIsAskedToWaitRunsOnceTheTailHasPassed) {
  StreamSite site(kLateTwoHours);
  const auto submitted = site.TrySubmit(site.FilesSpec(10, 12, 3), {TailPolicy::kWait, {}, {}, {}});
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const std::string& id = submitted->backfill.id;
  ASSERT_TRUE(site.RunUntil([&] { return NameOf(site.Partitions(id).at(0).state) == "DONE"; }));
  EXPECT_EQ(site.Rows(10), 3);
  EXPECT_FALSE(site.RunUntil([&] { return site.OurTasks().size() == 2; }, absl::Minutes(1)));
  const auto waiting = site.Partitions(id).at(1);
  EXPECT_EQ(NameOf(waiting.state), "PENDING");
  EXPECT_EQ(waiting.reason, "TAIL");
  EXPECT_THAT(waiting.message, HasSubstr("2026-07-16T11:00:01.000Z"));
  // Its task keeps its bound as long as it lives: another one comes after it.
  site.Suspend();
  site.Pass(absl::Hours(1) + absl::Minutes(5));
  site.Resume();
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_FALSE(site.Suspended());
}

TEST(Tails, AcceptedOnesAreMarkedAndWatched) {
  StreamSite site;
  const auto submitted =
      site.TrySubmit(site.FilesSpec(10, 11, 3), {TailPolicy::kAcceptUnbounded, {}, {}, {}});
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const std::string& id = submitted->backfill.id;
  EXPECT_THAT(submitted->backfill.notices, Contains(HasSubstr("LATE_ROWS_POSSIBLE")));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  site.Produce(10, 2);
  site.Suspend();
  ASSERT_TRUE(site.RunUntil([&] { return !site.Findings("FOREIGN_WRITE").empty(); }));
  EXPECT_EQ(site.Findings("FOREIGN_WRITE")[0].stream, "clicks");
}

TEST(Tails, AHandoverOfAStreamOutsideOfDruidIsRefused) {
  BackfillSite site;
  lease::Tail tail;
  tail.datasource = "clicks";
  tail.stream = "flink";
  tail.bound = Hour(10).start();
  tail.source = "REPORTED";
  ASSERT_TRUE(
      site.store().Write([&](store::Transaction& tx) { return lease::SetTail(tx, tail); }).ok());
  BackfillRequest request;
  request.spec = site.FilesSpec(10, 11, 3);
  request.tails.policy = TailPolicy::kHandover;
  const auto refused = site.backfills().Submit(request, site.Caller());
  EXPECT_EQ(ReasonOf(refused.status()), "TAIL");
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("no supervisor"));
}

// Granted before, and the tail has moved back over it: nothing is revoked, nothing posted.
TEST(Tails, OneThatMovesBackHoldsWhatIsNotSubmitted) {
  StreamSite site(kLateTwoHours);
  const auto submitted = site.TrySubmit(site.FilesSpec(9, 11, 3), {});
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  site.Ask("POST", "/druid/indexer/v1/supervisor", StreamSite::Spec(""));
  EXPECT_FALSE(site.RunUntil([&] { return !site.OurTasks().empty(); }, absl::Minutes(1)));
  const auto held = site.Partitions(submitted->backfill.id).at(0);
  EXPECT_EQ(NameOf(held.state), "RESERVED");
  EXPECT_EQ(held.reason, "UNBOUNDED_TAIL");
  EXPECT_THAT(site.Findings("TAIL_MOVED_BACK"), SizeIs(1));
}

// Row 40: a REPLACE that a steady stream keeps waiting says so, and gives up.
TEST(Tails, Case040WhatWaitsForAStreamsLockSaysWhoseSinceWhenAndGivesUp) {
  StreamSite site;
  site.Produce(10, 2);
  BackfillRequest request;
  request.spec = site.FilesSpec(10, 11, 3);
  request.tails.policy = TailPolicy::kAcceptUnbounded;
  request.waiting_deadline = absl::Minutes(5);
  const auto submitted = site.backfills().Submit(request, site.Caller());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const std::string& id = submitted->backfill.id;
  ASSERT_TRUE(site.RunUntil([&] { return site.Partitions(id).at(0).reason == "STREAM_HOLDS_LOCK"; },
                            absl::Minutes(1)));
  const std::string said = site.Partitions(id).at(0).message;
  EXPECT_THAT(said, HasSubstr("held by index_kafka_clicks_"));
  EXPECT_THAT(said, HasSubstr("waited for since 2026-07-16T13:00"));
  const auto over = site.RunUntilOver(id, absl::Minutes(10));
  EXPECT_EQ(NameOf(over.backfill.phase), "FAILED");
  EXPECT_THAT(site.Partitions(id).at(0).message, HasSubstr("--handover"));
  EXPECT_THAT(site.OurTasks(), IsEmpty()) << "never parked in Druid, and never of a priority "
                                             "above the stream's";
}

TEST(Tails, Case040ATaskWhoseLockAStreamTakesFailsAndWaitsForItsTurn) {
  StreamSite site;
  site.Load(10, 5);
  const auto submitted =
      site.TrySubmit(site.FilesSpec(10, 11, 3), {TailPolicy::kAcceptUnbounded, {}, {}, {}});
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const std::string& id = submitted->backfill.id;
  ASSERT_TRUE(site.RunUntil([&] { return site.OurTasks().size() == 1; }));
  site.Produce(10, 2);
  ASSERT_TRUE(
      site.RunUntil([&] { return site.Partitions(id).at(0).reason == "STREAM_HOLDS_LOCK"; }));
  EXPECT_THAT(site.OurTasks(), SizeIs(1)) << "the next is not sent before its time is free";
  EXPECT_EQ(site.Rows(10), 5) << "the stream's two are not published yet";
  site.Suspend();
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_THAT(site.OurTasks(), SizeIs(2));
  EXPECT_EQ(site.Rows(10), 3);
}

TEST(Tails, Case039AStreamsLockIsToldAtOnceWithItsHolderAndPriority) {
  StreamSite site;
  site.Produce(10, 2);
  BackfillRequest request;
  request.spec = site.FilesSpec(10, 11, 3);
  request.tails.policy = TailPolicy::kAcceptUnbounded;
  const auto plan = site.backfills().MakePlan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->partitions.at(0).obstacles, SizeIs(1));
  const Obstacle& lock = plan->partitions[0].obstacles[0];
  EXPECT_EQ(lock.kind, "DRUID_LOCK");
  EXPECT_EQ(lock.holder, "index_kafka_clicks");
  EXPECT_EQ(lock.priority, 75);
  EXPECT_TRUE(lock.blocking);
  EXPECT_THAT(lock.remedy, HasSubstr("--handover"));
}

TEST(Tails, APlanSaysWhatWouldWaitForTheStream) {
  StreamSite site(kLateTwoHours);
  BackfillRequest request;
  request.spec = site.FilesSpec(10, 13, 3);
  const auto actions = [&] {
    const auto plan = site.backfills().MakePlan(request);
    EXPECT_TRUE(plan.ok()) << plan.status();
    std::vector<PlannedPartition::Action> found;
    for (const auto& partition : plan->partitions) found.push_back(partition.action);
    return found;
  };
  using Action = PlannedPartition::Action;
  EXPECT_THAT(actions(), ::testing::ElementsAre(Action::kRun, Action::kBlocked, Action::kBlocked));
  for (const TailPolicy policy : {TailPolicy::kWait, TailPolicy::kHandover}) {
    request.tails.policy = policy;
    EXPECT_THAT(actions(), ::testing::ElementsAre(Action::kRun, Action::kWaitForStream,
                                                  Action::kWaitForStream));
  }
}

}  // namespace
}  // namespace interlock::backfill
