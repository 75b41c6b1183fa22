// Supervisors and their tasks, as a backfill meets them: a real one with a Kafka
// (tests/lib/guard/druid/run names it), or the simulator's.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::druid {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class SupervisorConformance : public DruidAtHand {
 protected:
  void SetUp() override {
    DruidAtHand::SetUp();
    if (!simulated() && Variable("KAFKA").empty()) {
      GTEST_SKIP() << "this Druid has no Kafka: tests/lib/guard/druid/run starts one that has";
    }
  }
  void TearDown() override {
    if (!posted_) return;
    cluster().SuspendSupervisor(datasource());
    WaitUntil("its tasks are gone", [&] { return Tasks().empty(); });
    Raw("POST", Own("/terminate"));
  }

  std::string Own(const std::string& rest = "") const {
    return Overlord(absl::StrCat("/supervisor/", datasource(), rest));
  }
  std::string Topic() const { return "t_" + datasource(); }
  std::string Spec(const std::string& io = "", const std::string& tuning = "") const {
    return absl::StrCat(
        R"({"type":"kafka","spec":{"dataSchema":{"dataSource":")", datasource(),
        R"(","timestampSpec":{"column":"ts","format":"iso"},"dimensionsSpec":{"dimensions":)",
        R"(["page"]},"metricsSpec":[{"type":"count","name":"count"},{"type":"longSum","name":"n",)",
        R"("fieldName":"n"}],"granularitySpec":{"type":"uniform","segmentGranularity":"HOUR",)",
        R"("queryGranularity":"MINUTE","rollup":true}},"ioConfig":{"type":"kafka","topic":")",
        Topic(), R"(","inputFormat":{"type":"json"},"consumerProperties":{"bootstrap.servers":")",
        simulated() ? "nowhere:9092" : Variable("KAFKA"), R"("},"taskCount":1,"replicas":1,)",
        R"("taskDuration":"PT10M","period":"PT1S","startDelay":"PT1S","useEarliestOffset":true)",
        io, R"(},"tuningConfig":{"type":"kafka")", tuning, "}}}");
  }
  HttpReply Post(const std::string& spec) {
    HttpReply reply = Raw("POST", Overlord("/supervisor"), spec);
    posted_ = posted_ || reply.status == 200;
    return reply;
  }
  std::vector<StreamTask> Tasks() {
    std::vector<StreamTask> own;
    const auto listed = cluster().ListStreamTasks();
    EXPECT_TRUE(listed.done()) << listed.text();
    if (!listed.done()) return own;
    for (const TaskStatus& status : listed.value()) {
      if (status.datasource != datasource()) continue;
      const auto payload = cluster().GetTaskPayload(status.id);
      if (!payload.done()) continue;
      auto task = ReadStreamTask(status.id, payload.value().json);
      EXPECT_TRUE(task.ok()) << task.status();
      if (task.ok()) own.push_back(*std::move(task));
    }
    return own;
  }
  // One that is suspended before its supervisor knows when it began kills its task.
  void WaitForTask() {
    WaitUntil("a task reads", [&] {
      return !Tasks().empty() && (simulated() || absl::StrContains(Raw("GET", Own("/status")).body,
                                                                   "\"startTime\":\""));
    });
  }
  std::vector<TaskLock> Locks(const Interval& interval) {
    const auto locks = cluster().ListLocks(datasource(), {interval});
    EXPECT_TRUE(locks.done()) << locks.text();
    return locks.done() ? locks.value() : std::vector<TaskLock>();
  }
  void Produce(int hour, int count) {
    std::vector<Event> events(static_cast<size_t>(count), Event{hour, "p", 1});
    const std::string lines = EventLines(events);
    if (simulated()) {
      std::vector<std::string> rows;
      for (const auto line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
        rows.push_back(absl::StrCat("\"", absl::StrReplaceAll(line, {{"\"", "\\\""}}), "\""));
      }
      const HttpReply reply = Raw(
          "POST", Simulator("/topics"),
          absl::StrCat(R"({"topic":")", Topic(), R"(","rows":[)", absl::StrJoin(rows, ","), "]}"));
      ASSERT_EQ(reply.status, 200) << reply.body;
      return;
    }
    const auto file = std::filesystem::temp_directory_path() / (datasource() + ".rows");
    std::ofstream(file) << lines;
    const std::string command = absl::StrCat(Variable("INTERLOCK_PRODUCE"), " ", Variable("KAFKA"),
                                             " ", Topic(), " < ", file.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::filesystem::remove(file);
  }
  void Rest() {
    ASSERT_TRUE(cluster().SuspendSupervisor(datasource()).done());
    WaitUntil("its tasks are gone", [&] { return Tasks().empty(); });
  }
  BatchTask Batch(int rows) const {
    BatchTask task;
    task.id = TaskId("batch");
    task.datasource = datasource();
    for (int i = 0; i < rows; ++i) task.events.push_back({13, absl::StrCat("b", i), 1});
    return task;
  }

 private:
  bool posted_ = false;
};

TEST_F(SupervisorConformance, OneThatIsNotThereIsNotFoundInTheseWords) {
  for (const char* rest : {"", "/status"}) {
    const HttpReply reply = Raw("GET", Own(rest));
    EXPECT_EQ(reply.status, 404);
    EXPECT_EQ(reply.body, absl::StrCat("Cannot find any supervisor with id: [", datasource(), "]"));
  }
  EXPECT_TRUE(cluster().SuspendSupervisor(datasource()).not_found());
}

TEST_F(SupervisorConformance, SkipOffsetFromLatestIsDroppedWithoutAWord) {
  ASSERT_EQ(Post(Spec(R"(,"skipOffsetFromLatest":"PT1H")")).status, 200);
  EXPECT_THAT(Raw("GET", Own()).body, Not(HasSubstr("skipOffsetFromLatest")));
}

TEST_F(SupervisorConformance, BothLateBoundsAtOnceAreRefused) {
  const HttpReply reply =
      Post(Spec(R"(,"lateMessageRejectionPeriod":"PT1H","lateMessageRejectionStartDateTime":)"
                R"("2026-07-16T13:00:00Z")"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("does not support both properties"));
}

TEST_F(SupervisorConformance, ATaskCarriesTheBoundItWasMadeWith) {
  ASSERT_EQ(Post(Spec(R"(,"lateMessageRejectionStartDateTime":"2026-07-16T13:00:00Z")")).status,
            200);
  WaitForTask();
  const StreamTask task = Tasks()[0];
  EXPECT_EQ(task.stream, Topic());
  EXPECT_EQ(task.group_id, "index_kafka_" + datasource());
  EXPECT_EQ(task.minimum_message_time, Hour(13).start());
}

TEST_F(SupervisorConformance, ItsHourIsLockedFromTheFirstRowUntilItsTaskIsGone) {
  ASSERT_EQ(Post(Spec()).status, 200);
  WaitForTask();
  EXPECT_THAT(Locks(Hour(13)), SizeIs(0));
  Produce(13, 2);
  WaitUntil("the hour is locked", [&] { return !Locks(Hour(13)).empty(); });
  const TaskLock lock = Locks(Hour(13))[0];
  EXPECT_EQ(lock.type, "EXCLUSIVE");
  EXPECT_EQ(lock.priority, 75);
  EXPECT_EQ(lock.group_id, "index_kafka_" + datasource());
  Rest();
  WaitUntil("the lock is gone", [&] { return Locks(Hour(13)).empty(); });
  EXPECT_THAT(Used(Hour(13)), SizeIs(1));
  ExpectRows(Hour(13), 2);
}

TEST_F(SupervisorConformance, SuspendedTwiceAndResumedTwiceSaysSo) {
  ASSERT_EQ(Post(Spec()).status, 200);
  WaitForTask();
  const auto supervisor = [&] {
    const auto all = cluster().ListSupervisors();
    for (const Supervisor& one : all.done() ? all.value() : std::vector<Supervisor>()) {
      if (one.id == datasource()) return one;
    }
    return Supervisor();
  };
  EXPECT_FALSE(supervisor().suspended);
  ASSERT_TRUE(cluster().SuspendSupervisor(datasource()).done());
  EXPECT_TRUE(supervisor().suspended);
  const auto again = cluster().SuspendSupervisor(datasource());
  EXPECT_EQ(again.cause(), Cause::kInvalid);
  EXPECT_THAT(again.text(), HasSubstr("already suspended"));
  WaitUntil("its tasks are gone", [&] { return Tasks().empty(); });
  ASSERT_TRUE(cluster().ResumeSupervisor(datasource()).done());
  EXPECT_THAT(cluster().ResumeSupervisor(datasource()).text(), HasSubstr("already running"));
  WaitForTask();
}

TEST_F(SupervisorConformance, LateRowsJoinTheVersionThatIsThere) {
  ASSERT_EQ(Run(Batch(2).Json()).state, TaskState::kSuccess);
  ASSERT_EQ(Post(Spec()).status, 200);
  WaitForTask();
  Produce(13, 3);
  WaitUntil("the hour is locked", [&] { return !Locks(Hour(13)).empty(); });
  Rest();
  const auto used = Used(Hour(13));
  ASSERT_THAT(used, SizeIs(2));
  EXPECT_EQ(used[0].version, used[1].version);
  EXPECT_NE(used[0].appended(), used[1].appended());
  ExpectRows(Hour(13), 5);
}

TEST_F(SupervisorConformance, ABatchTaskWaitsForTheStreamAndHidesWhatItHadRead) {
  ASSERT_EQ(Post(Spec()).status, 200);
  WaitForTask();
  Produce(13, 3);
  WaitUntil("the hour is locked", [&] { return !Locks(Hour(13)).empty(); });
  Submit(Batch(2).Json());
  WaitUntil("it waits", [&] {
    const auto status = cluster().GetTaskStatus(TaskId("batch"));
    return status.done() && status.value().runner_state == "WAITING";
  });
  Rest();
  EXPECT_EQ(WaitForEnd(TaskId("batch")).state, TaskState::kSuccess);
  ExpectRows(Hour(13), 2);
}

// What was read and not published is read again; what was published is not.
TEST_F(SupervisorConformance, TheNextTaskBeginsWhereTheLastOneHasPublished) {
  ASSERT_EQ(Post(Spec()).status, 200);
  WaitForTask();
  EXPECT_EQ(Tasks()[0].start_offsets.at("0"), "0");
  Produce(13, 3);
  WaitUntil("the hour is locked", [&] { return !Locks(Hour(13)).empty(); });
  Rest();
  Produce(13, 2);
  ASSERT_TRUE(cluster().ResumeSupervisor(datasource()).done());
  WaitForTask();
  EXPECT_EQ(Tasks()[0].start_offsets.at("0"), "3");
  WaitUntil("the rest is read", [&] { return !Locks(Hour(13)).empty(); });
  Rest();
  ExpectRows(Hour(13), 5);
}

}  // namespace
}  // namespace interlock::druid
