// Ids, statuses and refusals of tasks.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::druid {
namespace {

using testing::HasSubstr;

class TaskConformance : public DruidAtHand {
 protected:
  BatchTask Batch(const std::string& what) {
    BatchTask task;
    task.id = TaskId(what);
    task.datasource = datasource();
    task.events = {{13, "a", 1}, {13, "b", 2}};
    return task;
  }

  // Posts it again: every version answers 400, in words that differ.
  void ExpectTaken(const std::string& task_json) {
    const HttpReply raw = Raw("POST", Overlord("/task"), task_json);
    EXPECT_EQ(raw.status, 400) << raw.body;
    EXPECT_THAT(raw.body, HasSubstr("already exists"));
    const auto answer = cluster().SubmitTask(task_json);
    EXPECT_EQ(answer.cause(), Cause::kAlreadyExists) << answer.text();
  }
};

TEST_F(TaskConformance, TheIdOfAFinishedTaskIsTaken) {
  const std::string task = NoopTask(TaskId("noop"), 1);
  ASSERT_EQ(Run(task).state, TaskState::kSuccess);
  ExpectTaken(task);
}

TEST_F(TaskConformance, TheIdOfARunningTaskIsTaken) {
  const std::string task = NoopTask(TaskId("noop"), 5'000);
  Submit(task);
  ExpectTaken(task);
  EXPECT_FALSE(cluster().GetTaskStatus(TaskId("noop")).value().terminal());
  cluster().ShutdownTask(TaskId("noop"));
}

TEST_F(TaskConformance, TheIdOfAFailedTaskIsTaken) {
  const std::string task = NoopTask(TaskId("noop"), 60'000);
  Submit(task);
  ASSERT_TRUE(cluster().ShutdownTask(TaskId("noop")).done());
  ASSERT_EQ(WaitForEnd(TaskId("noop")).state, TaskState::kFailed);
  ExpectTaken(task);
}

TEST_F(TaskConformance, ANoopOccupiesAnIdForEver) {
  const BatchTask real = Batch("occupied");
  Submit(NoopTask(real.id, 1'500));
  ExpectTaken(real.Json());
  EXPECT_EQ(WaitForEnd(real.id).state, TaskState::kSuccess);
  ExpectTaken(real.Json());
  const auto payload = cluster().GetTaskPayload(real.id);
  ASSERT_TRUE(payload.done()) << payload.text();
  EXPECT_EQ(payload.value().type, "noop");
}

TEST_F(TaskConformance, UnknownIdsAreNotFoundInDruidsWords) {
  const std::string id = TaskId("never");
  EXPECT_TRUE(cluster().GetTaskStatus(id).not_found());
  EXPECT_TRUE(cluster().GetTaskPayload(id).not_found());
  EXPECT_TRUE(cluster().GetTaskReport(id).not_found());
  EXPECT_TRUE(cluster().ShutdownTask(id).not_found());
  const auto statuses = cluster().GetTaskStatuses({id});
  ASSERT_TRUE(statuses.done()) << statuses.text();
  EXPECT_TRUE(statuses.value().empty());
}

TEST_F(TaskConformance, UnknownIdsAnswer404AndText) {
  const std::string text = absl::StrCat("Cannot find any task with id: [", TaskId("never"), "]");
  for (const char* rest : {"", "/status", "/reports"}) {
    const HttpReply reply = Raw("GET", Overlord(absl::StrCat("/task/", TaskId("never"), rest)));
    EXPECT_EQ(reply.status, 404) << rest;
    EXPECT_EQ(reply.body, text) << rest;
  }
  const HttpReply reply = Raw("POST", Overlord("/task/" + TaskId("never") + "/shutdown"));
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body, text);
}

TEST_F(TaskConformance, ManyStatusesLeaveUnknownIdsOut) {
  ASSERT_EQ(Run(NoopTask(TaskId("noop"), 1)).state, TaskState::kSuccess);
  const auto statuses = cluster().GetTaskStatuses({TaskId("noop"), TaskId("never")});
  ASSERT_TRUE(statuses.done()) << statuses.text();
  ASSERT_EQ(statuses.value().size(), 1u);
  EXPECT_EQ(statuses.value().at(TaskId("noop")).state, TaskState::kSuccess);
}

TEST_F(TaskConformance, TheContextComesBackAsItWas) {
  const std::string nonce =
      R"({"backfill":"bf-1","attempt":3,"nonce":"7f","deep":{"a":[1,2.5,null,true,"ä"]}})";
  BatchTask task = Batch("context");
  task.context = absl::StrCat(R"({"interlock":)", nonce, "}");
  Submit(task.Json());
  const auto running = cluster().GetTaskPayload(task.id);
  ASSERT_TRUE(running.done()) << running.text();
  EXPECT_EQ(running.value().context.at("interlock"), nonce);
  ASSERT_EQ(WaitForEnd(task.id).state, TaskState::kSuccess);
  const auto finished = cluster().GetTaskPayload(task.id);
  ASSERT_TRUE(finished.done()) << finished.text();
  EXPECT_EQ(finished.value().context.at("interlock"), nonce);
  EXPECT_EQ(finished.value().type, "index_parallel");
  EXPECT_EQ(finished.value().datasource, datasource());
}

TEST_F(TaskConformance, ANoopsContextComesBackToo) {
  Submit(NoopTask(TaskId("noop"), 1, R"({"interlock":{"nonce":"7f"}})"));
  const auto payload = cluster().GetTaskPayload(TaskId("noop"));
  ASSERT_TRUE(payload.done()) << payload.text();
  EXPECT_EQ(payload.value().context.at("interlock"), R"({"nonce":"7f"})");
}

TEST_F(TaskConformance, AShutdownFailsARunningTaskAndLeavesAFinishedOneAlone) {
  Submit(NoopTask(TaskId("long"), 60'000));
  EXPECT_TRUE(cluster().ShutdownTask(TaskId("long")).done());
  const TaskStatus ended = WaitForEnd(TaskId("long"));
  EXPECT_EQ(ended.state, TaskState::kFailed);
  EXPECT_THAT(ended.error, HasSubstr("Shutdown request from user"));
  EXPECT_EQ(ended.duration_ms, -1);

  ASSERT_EQ(Run(NoopTask(TaskId("short"), 1)).state, TaskState::kSuccess);
  EXPECT_TRUE(cluster().ShutdownTask(TaskId("short")).done());
  EXPECT_EQ(cluster().GetTaskStatus(TaskId("short")).value().state, TaskState::kSuccess);
}

TEST_F(TaskConformance, TheRunnersWordOfAFinishedTaskMeansNothing) {
  ASSERT_EQ(Run(Batch("done").Json()).state, TaskState::kSuccess);
  // It says WAITING of every task that the runner does not know.
  WaitUntil("the runner has forgotten it", [&] {
    return cluster().GetTaskStatus(TaskId("done")).value().runner_state == "WAITING";
  });
  EXPECT_EQ(cluster().GetTaskStatus(TaskId("done")).value().state, TaskState::kSuccess);
}

TEST_F(TaskConformance, LiveTasksAreListedAndFinishedOnesAreNot) {
  BatchTask task = Batch("done");
  ASSERT_EQ(Run(task.Json()).state, TaskState::kSuccess);
  WaitUntil("nothing lives", [&] {
    const auto live = cluster().ListLiveTasks(datasource());
    return live.done() && live.value().empty();
  });
}

TEST_F(TaskConformance, AStatusNamesTheTask) {
  const TaskStatus status = Run(Batch("batch").Json());
  EXPECT_EQ(status.id, TaskId("batch"));
  EXPECT_EQ(status.group_id, TaskId("batch"));
  EXPECT_EQ(status.type, "index_parallel");
  EXPECT_EQ(status.datasource, datasource());
  EXPECT_TRUE(status.created.has_value());
  EXPECT_GE(status.duration_ms, 0);
  EXPECT_EQ(status.error, "");
}

TEST_F(TaskConformance, RefusesWhatIsNoTaskAndKeepsNothingOfIt) {
  BatchTask no_intervals = Batch("bad");
  no_intervals.with_intervals = false;
  BatchTask append_and_drop = Batch("bad");
  append_and_drop.append = true;
  BatchTask rolled_up_append = Batch("bad");
  rolled_up_append.append = true;
  rolled_up_append.drop = false;
  rolled_up_append.partitions = R"({"type":"hashed","numShards":1})";
  BatchTask no_data = Batch("bad");
  no_data.input_source = R"({"type":"inline","data":""})";
  const std::string id = TaskId("bad");
  const struct {
    std::string json;
    const char* says;
  } specs[] = {
      {no_intervals.Json(), "intervals cannot be empty when using replace"},
      {append_and_drop.Json(), "Cannot simultaneously replace and append"},
      {rolled_up_append.Json(), "Perfect rollup cannot be guaranteed when appending"},
      {no_data.Json(), "empty data"},
      {absl::StrCat(R"({"type":"nosuchtype","id":")", id, R"("})"), "nosuchtype"},
      {absl::StrCat(R"({"id":")", id, R"("})"), "missing type id"},
  };
  for (const auto& bad : specs) {
    const auto answer = cluster().SubmitTask(bad.json);
    EXPECT_EQ(answer.cause(), Cause::kInvalid) << answer.text();
    EXPECT_THAT(answer.text(), HasSubstr(bad.says));
  }
  EXPECT_TRUE(cluster().GetTaskStatus(id).not_found());
}

TEST_F(TaskConformance, RefusesIdsThatAreNoNames) {
  const auto answer = cluster().SubmitTask(NoopTask("x/bad id", 1));
  EXPECT_EQ(answer.cause(), Cause::kInvalid) << answer.text();
}

TEST_F(TaskConformance, TextThatIsNoJsonIsAServerErrorThere) {
  const HttpReply reply = Raw("POST", Overlord("/task"), R"({"type":)");
  EXPECT_EQ(reply.status, 500);
  const HttpReply page = Raw("POST", Overlord("/task"), R"({"type":)", "*/*");
  EXPECT_EQ(page.status, 500);
  EXPECT_THAT(page.content_type, HasSubstr("text/html"));
}

}  // namespace
}  // namespace interlock::druid
