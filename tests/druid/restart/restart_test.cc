// An overlord that dies and comes back: what was answered exists, what was not may exist,
// and nothing that exists is ever said not to.
#include <cstdlib>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::druid {
namespace {

// Refused for 11 to 15 s, redirected to itself until 24 to 31 s (its own old ZooKeeper
// session), and slower where the machine is shared.
constexpr std::chrono::seconds kPatience{150};

class RestartConformance : public DruidAtHand {
 protected:
  // By the program that started it, or by asking the simulator.
  void KillOverlord() {
    if (simulated()) {
      const HttpReply reply = Raw("POST", Simulator("/restart-overlord"),
                                  R"({"refused_ms":500,"redirect_ms":500,"unavailable_ms":200})");
      ASSERT_EQ(reply.status / 100, 2) << reply.body;
      return;
    }
    Role("kill-role");
  }
  void StartOverlord() {
    if (!simulated()) Role("start-role");
  }
  void Role(const std::string& verb) {
    const char* dir = std::getenv("DRUID_DIR");
    ASSERT_NE(dir, nullptr) << "DRUID_DIR must say which Druid of deploy/druid/run it is";
    const std::string command = absl::StrCat(DRUID_RUN, " ", verb, " coordinator --dir '", dir,
                                             "' >/dev/null 2>&1 </dev/null");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c)
  }
  // Until the id is known again; every answer on the way there is unknown, not "not found".
  void ExpectComesBack(const std::string& id) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    int unknown = 0;
    while (true) {
      const auto status = cluster().GetTaskStatus(id);
      if (status.done()) break;
      EXPECT_TRUE(status.unknown()) << status.text();
      ++unknown;
      ASSERT_LT(std::chrono::steady_clock::now(), end) << status.text();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    RecordProperty("unknown_answers", unknown);
  }
};

TEST_F(RestartConformance, WhatWasAnsweredIsThereAgainAndNothingIsWronglyNotFound) {
  const std::string finished = TaskId("finished");
  ASSERT_EQ(Run(NoopTask(finished, 1)).state, TaskState::kSuccess);
  const std::string running = TaskId("running");
  Submit(NoopTask(running, 60'000));
  WaitUntil("it runs",
            [&] { return cluster().GetTaskStatus(running).value().runner_state == "RUNNING"; });
  std::vector<std::string> burst;
  for (int i = 0; i < 5; ++i) {
    burst.push_back(TaskId(absl::StrCat("burst", i)));
    Submit(NoopTask(burst.back(), 1));
  }
  KillOverlord();
  // A POST that met nobody is unknown; the same id again settles it.
  const std::string lost = NoopTask(TaskId("lost"), 1);
  EXPECT_TRUE(cluster().SubmitTask(lost).unknown());
  StartOverlord();
  ExpectComesBack(finished);
  EXPECT_EQ(cluster().GetTaskStatus(finished).value().state, TaskState::kSuccess);
  for (const std::string& id : burst) {
    EXPECT_EQ(cluster().SubmitTask(NoopTask(id, 1)).cause(), Cause::kAlreadyExists) << id;
    EXPECT_EQ(WaitForEnd(id).state, TaskState::kSuccess) << id;
  }
  EXPECT_EQ(cluster().SubmitTask(NoopTask(running, 1)).cause(), Cause::kAlreadyExists);
  const auto settled = cluster().SubmitTask(lost);
  EXPECT_TRUE(settled.done() || settled.cause() == Cause::kAlreadyExists) << settled.text();
  // Answered with 200, and without effect, as long as the new overlord has not heard of the
  // task from whoever runs it: who wants it gone asks until it is.
  WaitUntil("it is shut down", [&] {
    EXPECT_TRUE(cluster().ShutdownTask(running).done());
    const auto status = cluster().GetTaskStatus(running);
    return status.done() && status.value().state == TaskState::kFailed;
  });
}

}  // namespace
}  // namespace interlock::druid
