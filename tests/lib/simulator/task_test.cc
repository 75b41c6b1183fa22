// Life of a task: locks, slots, ends, shutdown, ids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/simulator/simulated_druid.h"

namespace interlock::simulator {
namespace {

using testing::HasSubstr;

constexpr char kLongNoop[] = R"({"type":"noop","id":"ID","runTime":60000})";

std::string Noop(const std::string& id) {
  std::string json = kLongNoop;
  return json.replace(json.find("ID"), 2, id);
}

TEST(Tasks, RunsForItsTimeAndThenHasItsEffectAtOneMoment) {
  SimulatedDruid druid;
  EXPECT_EQ(druid.Submit(Ingestion{.lines = Line(13, 5, "a", 1)}.Json()).body,
            R"({"task":"task"})");
  EXPECT_EQ(druid.RunnerCode("task"), "RUNNING");
  druid.Pass(99);
  EXPECT_EQ(druid.StatusCode("task"), "RUNNING");
  EXPECT_TRUE(druid.Used().empty());
  druid.Pass(1);
  EXPECT_EQ(druid.StatusCode("task"), "SUCCESS");
  EXPECT_EQ(druid.Used().size(), 1u);
  // Finished ones read WAITING there, and NONE in lists.
  EXPECT_EQ(druid.RunnerCode("task"), "WAITING");
  EXPECT_THAT(druid.Get("/druid/indexer/v1/tasks").body, HasSubstr(R"("runnerStatusCode":"NONE")"));
}

TEST(Tasks, AnIdIsTakenForEverWhateverBecameOfIt) {
  SimulatedDruid druid;
  druid.Submit(Noop("x"));
  const Reply running = druid.Submit(Noop("x"));
  EXPECT_EQ(running.status, 400);
  EXPECT_THAT(running.body, HasSubstr(R"("errorCode":"entryAlreadyExists")"));
  druid.Post("/druid/indexer/v1/task/x/shutdown", "");
  EXPECT_EQ(druid.Submit(Ingestion{.id = "x", .lines = Line(13, 5, "a", 1)}.Json()).status, 400);
}

TEST(Tasks, ASecondOneOverTheSameTimeWaitsForTheLock) {
  SimulatedDruid druid;
  druid.Submit(Ingestion{.id = "first", .lines = Line(13, 5, "a", 1)}.Json());
  druid.Submit(Ingestion{.id = "second", .lines = Line(13, 5, "b", 2)}.Json());
  druid.Submit(
      Ingestion{.id = "other", .intervals = {Hour(15)}, .lines = Line(15, 5, "c", 4)}.Json());
  EXPECT_EQ(druid.RunnerCode("second"), "WAITING");
  EXPECT_EQ(druid.StatusCode("second"), "RUNNING");
  EXPECT_EQ(druid.RunnerCode("other"), "RUNNING");
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("first"), "SUCCESS");
  EXPECT_EQ(druid.RunnerCode("second"), "RUNNING");
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("second"), "SUCCESS");
}

TEST(Tasks, WhatIsLeftOverOfTheSlotsIsPending) {
  SimulatedDruid druid;
  for (const char* id : {"a", "b", "c", "d"}) druid.Submit(Noop(id));
  EXPECT_EQ(druid.RunnerCode("c"), "RUNNING");
  EXPECT_EQ(druid.RunnerCode("d"), "PENDING");
  EXPECT_THAT(druid.Get("/druid/indexer/v1/pendingTasks").body, HasSubstr(R"("id":"d")"));
  druid.Pass(60'000);
  EXPECT_EQ(druid.RunnerCode("d"), "RUNNING");
}

TEST(Tasks, ShutDownItFailsAtOnceAndItsThreadLingersOn) {
  SimulatedDruid druid;
  for (const char* id : {"a", "b", "c", "d"}) druid.Submit(Noop(id));
  druid.Post("/druid/indexer/v1/task/a/shutdown", "");
  EXPECT_EQ(druid.StatusCode("a"), "FAILED");
  EXPECT_EQ(druid.Error("a"), "Shutdown request from user");
  // Its worker still runs it: the other status says so, and the slot is not free.
  EXPECT_THAT(druid.Post("/druid/indexer/v1/taskStatus", R"(["a"])").body,
              HasSubstr(R"("status":"RUNNING")"));
  EXPECT_EQ(druid.RunnerCode("d"), "PENDING");
  druid.Pass(60'000);
  EXPECT_THAT(druid.Post("/druid/indexer/v1/taskStatus", R"(["a"])").body,
              HasSubstr(R"("status":"FAILED")"));
}

TEST(Tasks, ShutDownItsLockIsFreeAtOnce) {
  SimulatedDruid druid;
  druid.simulator()
      .AddFault(R"({"match":{"path":"/druid/indexer/v1/task"},"kind":"stuck_task"})")
      .IgnoreError();
  druid.Submit(Ingestion{.id = "stuck", .lines = Line(13, 5, "a", 1)}.Json());
  druid.Submit(Ingestion{.id = "next", .lines = Line(13, 5, "b", 2)}.Json());
  druid.Pass(3'600'000);
  EXPECT_EQ(druid.StatusCode("stuck"), "RUNNING");
  EXPECT_EQ(druid.RunnerCode("next"), "WAITING");
  druid.Post("/druid/indexer/v1/task/stuck/shutdown", "");
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("next"), "SUCCESS");
}

TEST(Tasks, AHigherPriorityTakesTheLockAndTheHolderFails) {
  SimulatedDruid druid;
  druid.Submit(Ingestion{.id = "low", .lines = Line(13, 5, "a", 1)}.Json());
  druid.Submit(
      Ingestion{.id = "high", .lines = Line(13, 5, "b", 2), .context = R"({"priority":60})"}
          .Json());
  EXPECT_EQ(druid.RunnerCode("high"), "RUNNING");
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("high"), "SUCCESS");
  EXPECT_EQ(druid.StatusCode("low"), "FAILED");
  EXPECT_THAT(druid.Error("low"), HasSubstr("not covered by locks"));
  EXPECT_EQ(druid.Used().size(), 1u);
}

TEST(Tasks, WithoutIntervalsALockThatIsTakenFailsTheTask) {
  SimulatedDruid druid;
  druid.Post("/simulator/locks",
             R"({"group":"stream","datasource":"clicks","interval":")" + Hour(13) + R"("})");
  EXPECT_EQ(druid.Run({.intervals = {}, .lines = Line(13, 5, "a", 1), .drop = false}), "FAILED");
  EXPECT_THAT(druid.Error("task"), HasSubstr("Failed to get locks for intervals"));
}

TEST(Tasks, AStreamsLockHoldsABatchUpUntilItGoes) {
  SimulatedDruid druid;
  druid.Post("/simulator/locks",
             R"({"group":"stream","datasource":"clicks","interval":")" + Hour(13) + R"("})");
  druid.Submit(Ingestion{.lines = Line(13, 5, "a", 1)}.Json());
  druid.Pass(600'000);
  EXPECT_EQ(druid.RunnerCode("task"), "WAITING");
  EXPECT_THAT(druid.Post("/druid/indexer/v1/activeLocks", R"([{"datasource":"clicks"}])").body,
              HasSubstr(R"("priority":75)"));
  EXPECT_EQ(druid.Post("/druid/indexer/v1/activeLocks", R"([{"dataSource":"clicks"}])").body,
            R"({"datasourceToLocks":{}})");
  druid.simulator().Ask("DELETE", "/simulator/locks/stream");
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("task"), "SUCCESS");
}

TEST(Tasks, UnknownIdsAreText404) {
  SimulatedDruid druid;
  for (const char* what : {"", "/status", "/reports", "/log"}) {
    const Reply reply = druid.Get(std::string("/druid/indexer/v1/task/nope") + what);
    EXPECT_EQ(reply.status, 404);
    EXPECT_EQ(reply.body, "Cannot find any task with id: [nope]");
  }
  EXPECT_EQ(druid.Post("/druid/indexer/v1/taskStatus", R"(["nope"])").body, "{}");
}

TEST(Tasks, TheContextComesBackAsItWas) {
  SimulatedDruid druid;
  druid.Submit(
      Ingestion{.lines = Line(13, 5, "a", 1), .context = R"({"interlock":{"n":"7f","a":[1,2.5]}})"}
          .Json());
  EXPECT_THAT(
      druid.Get("/druid/indexer/v1/task/task").body,
      HasSubstr(R"("context":{"interlock":{"n":"7f","a":[1,2.5]},"forceTimeChunkLock":true)"));
}

TEST(Tasks, OneThatAwaitsItsSegmentsHoldsItsLockUntilTheyAreServed) {
  SimulatedDruid druid;
  druid.Submit(Ingestion{.lines = Line(13, 5, "a", 1),
                         .tuning = R"(,"awaitSegmentAvailabilityTimeoutMillis":60000)"}
                   .Json());
  druid.Pass(500);
  EXPECT_EQ(druid.Used().size(), 1u);
  EXPECT_EQ(druid.StatusCode("task"), "RUNNING");
  druid.Pass(600);
  EXPECT_EQ(druid.StatusCode("task"), "SUCCESS");
  EXPECT_EQ(druid.Stat("task", "segmentAvailabilityWaitTimeMs"), 1'000);
}

TEST(Tasks, AParallelOneListsASubtaskWithItsGroup) {
  SimulatedDruid druid;
  druid.Submit(Ingestion{.source = R"({"type":"local","baseDir":"/nowhere","filter":"*"})",
                         .tuning = R"(,"maxNumConcurrentSubTasks":2)"}
                   .Json());
  const JsonDocument tasks = druid.GetJson("/druid/indexer/v1/tasks?state=running");
  ASSERT_EQ(tasks.Size(), 2u);
  EXPECT_EQ(FindString(tasks[0], "groupId"), "task");
  EXPECT_EQ(FindString(tasks[0], "type"), "single_phase_sub_task");
}

}  // namespace
}  // namespace interlock::simulator
