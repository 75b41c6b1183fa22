#include "tests/druid/druid_at_hand/held_lock.h"

#include "absl/strings/str_cat.h"
#include "lib/time/mutex.h"
#include "tests/lib/druid/wire/wire_server.h"

namespace interlock::druid {

// Answers every request with the same rows, once it is told to.
class SlowInput {
 public:
  explicit SlowInput(std::string rows)
      : rows_(std::move(rows)),
        server_([this](WireConnection& connection) { Serve(connection); }) {}
  ~SlowInput() { Release(); }

  std::string url() const { return server_.url() + "/rows.json"; }
  void Release() {
    const MutexLock lock(mutex_);
    released_ = true;
    changed_.NotifyAll();
  }

 private:
  void Serve(WireConnection& connection) {
    while (connection.ReadRequest()) {
      {
        MutexLock lock(mutex_);
        while (!released_) changed_.Wait(lock);
      }
      connection.Reply(200, rows_);
    }
  }

  const std::string rows_;
  Mutex mutex_;
  CondVar changed_;
  bool released_ INTERLOCK_GUARDED_BY(mutex_) = false;
  WireServer server_;
};

HeldLock::HeldLock(DruidAtHand& druid, const Interval& interval)
    : druid_(druid), group_(druid.TaskId("holder")) {
  if (druid.simulated()) {
    const std::string body = absl::StrCat(
        R"({"group":")", group_, R"(","datasource":")", druid.datasource(), R"(","interval":")",
        interval.ToString(), R"(","priority":)", kPriority, R"(,"type":"EXCLUSIVE"})");
    EXPECT_EQ(druid.Raw("POST", druid.Simulator("/locks"), body).status / 100, 2);
    return;
  }
  const int hour = static_cast<int>((interval.start().millis() / 3'600'000) % 24);
  input_ = std::make_unique<SlowInput>(EventLines({{hour, "held", 1}}));
  BatchTask task;
  task.id = group_;
  task.datasource = druid.datasource();
  task.interval = interval;
  task.input_source = absl::StrCat(R"({"type":"http","uris":[")", input_->url(), R"("]})");
  task.context = absl::StrCat(R"({"priority":)", kPriority, "}");
  druid.Submit(task.Json());
}

HeldLock::~HeldLock() { Release(); }

void HeldLock::Release() {
  if (released_) return;
  released_ = true;
  if (input_ == nullptr) {
    EXPECT_EQ(druid_.Raw("DELETE", druid_.Simulator("/locks/" + group_)).status / 100, 2);
    return;
  }
  input_->Release();
  EXPECT_EQ(druid_.WaitForEnd(group_).state, TaskState::kSuccess);
}

}  // namespace interlock::druid
