// Locks of tasks that run, and tasks that wait for them.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"
#include "tests/druid/druid_at_hand/held_lock.h"

namespace interlock::druid {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class LockConformance : public DruidAtHand {
 protected:
  std::vector<TaskLock> Locks(const std::vector<Interval>& intervals) {
    const auto locks = cluster().ListLocks(datasource(), intervals);
    EXPECT_TRUE(locks.done()) << locks.text();
    return locks.done() ? locks.value() : std::vector<TaskLock>();
  }
  BatchTask Batch(const std::string& what) {
    BatchTask task;
    task.id = TaskId(what);
    task.datasource = datasource();
    task.events = {{13, "a", 1}};
    return task;
  }
};

TEST_F(LockConformance, NobodyHoldsAnythingOfAnUnknownDatasource) {
  EXPECT_THAT(Locks({Hour(13)}), IsEmpty());
}

TEST_F(LockConformance, ALockIsListedWhileItIsHeldAndOnlyWhereItIs) {
  HeldLock held(*this, Hour(13));
  WaitUntil("the lock is held", [&] { return !Locks({Hour(13)}).empty(); });
  ASSERT_THAT(Locks({Hour(13)}), SizeIs(1));
  const TaskLock lock = Locks({Hour(13)})[0];
  EXPECT_EQ(lock.interval, Hour(13));
  EXPECT_FALSE(lock.revoked);
  if (can().active_locks) {
    EXPECT_EQ(lock.type, "EXCLUSIVE");
    EXPECT_EQ(lock.priority, HeldLock::kPriority);
    EXPECT_EQ(lock.group_id, held.group());
    EXPECT_TRUE(Instant::Parse(lock.version).ok()) << lock.version;
  }
  EXPECT_THAT(Locks({}), SizeIs(1));
  EXPECT_THAT(Locks({Hours(0, 24)}), SizeIs(1));
  EXPECT_THAT(Locks({Hour(12), Hour(14)}), IsEmpty());
  held.Release();
  WaitUntil("the lock is gone", [&] { return Locks({Hour(13)}).empty(); });
}

TEST_F(LockConformance, AFilterWithTheWrongNameLooksLikeNoLocks) {
  HeldLock held(*this, Hour(13));
  WaitUntil("the lock is held", [&] { return !Locks({Hour(13)}).empty(); });
  if (!can().active_locks) return;
  const auto ask = [&](const char* name) {
    return Raw("POST", Overlord("/activeLocks"),
               absl::StrCat(R"([{")", name, R"(":")", datasource(), R"(","priority":0}])"));
  };
  EXPECT_TRUE(absl::StrContains(ask("datasource").body, "EXCLUSIVE"));
  const HttpReply wrong = ask("dataSource");
  if (major() < 37) {
    EXPECT_EQ(wrong.status, 200);
    EXPECT_EQ(wrong.body, R"({"datasourceToLocks":{}})");
  } else {
    EXPECT_EQ(wrong.status, 500);
  }
}

TEST_F(LockConformance, AnEmptyFilterIsRefused) {
  if (!can().active_locks) return;
  const HttpReply reply = Raw("POST", Overlord("/activeLocks"), "[]");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body, "No filter provided");
}

TEST_F(LockConformance, ATaskThatWantsAHeldIntervalWaitsAndThenRuns) {
  HeldLock held(*this, Hour(13));
  WaitUntil("the lock is held", [&] { return !Locks({Hour(13)}).empty(); });
  const BatchTask waiting = Batch("waiting");
  Submit(waiting.Json());
  WaitUntil("it waits", [&] {
    const auto status = cluster().GetTaskStatus(waiting.id);
    return status.done() && status.value().runner_state == "WAITING";
  });
  EXPECT_EQ(cluster().GetTaskStatus(waiting.id).value().state, TaskState::kRunning);
  bool listed = false;
  for (const TaskStatus& task : cluster().ListLiveTasks(datasource()).value()) {
    listed = listed || task.id == waiting.id;
  }
  EXPECT_TRUE(listed);
  held.Release();
  EXPECT_EQ(WaitForEnd(waiting.id).state, TaskState::kSuccess);
}

TEST_F(LockConformance, AWaitingTaskCanBeShutDown) {
  HeldLock held(*this, Hour(13));
  WaitUntil("the lock is held", [&] { return !Locks({Hour(13)}).empty(); });
  const BatchTask waiting = Batch("waiting");
  Submit(waiting.Json());
  ASSERT_TRUE(cluster().ShutdownTask(waiting.id).done());
  EXPECT_EQ(WaitForEnd(waiting.id).state, TaskState::kFailed);
}

TEST_F(LockConformance, OtherIntervalsAreNotHeldUp) {
  HeldLock held(*this, Hour(13));
  WaitUntil("the lock is held", [&] { return !Locks({Hour(13)}).empty(); });
  BatchTask other = Batch("other");
  other.interval = Hour(14);
  other.events = {{14, "a", 1}};
  EXPECT_EQ(Run(other.Json()).state, TaskState::kSuccess);
}

TEST_F(LockConformance, MarksDoNotAskForLocks) {
  if (!can().overlord_marks) return;
  BatchTask load = Batch("load");
  ASSERT_EQ(Run(load.Json()).state, TaskState::kSuccess);
  HeldLock held(*this, Hour(13));
  WaitUntil("the lock is held", [&] { return !Locks({Hour(13)}).empty(); });
  EXPECT_EQ(cluster().MarkUnused(datasource(), {Used(Hour(13)).at(0).id}).value().changed, 1);
}

}  // namespace
}  // namespace interlock::druid
