#include "lib/simulator/task_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/simulator/kill_task.h"
#include "lib/simulator/publisher.h"
#include "lib/simulator/report.h"
#include "lib/simulator/task_parser.h"
#include "lib/simulator/world.h"

namespace interlock::simulator {
namespace {

// A parallel ingestion's phases, and a supervisor that looks at them once a second:
// measured 1 to 5 s, where a plain one took 0.1 to 0.3.
constexpr int kParallelFactor = 20;

// The sub-task that does a parallel ingestion's reading.
std::string SubtaskType(const IngestSpec& spec) {
  switch (spec.partitions.kind) {
    case PartitionsSpec::Kind::kDynamic:
      return "single_phase_sub_task";
    case PartitionsSpec::Kind::kHashed:
      return "partial_index_generate";
    case PartitionsSpec::Kind::kRange:
      return "partial_range_index_generate";
  }
  return "";
}

std::string NoLocks(const std::vector<Interval>& intervals) {
  std::vector<std::string> texts;
  texts.reserve(intervals.size());
  for (const Interval& interval : intervals) texts.push_back(interval.ToString());
  return absl::StrCat(
      "org.apache.druid.java.util.common.ISE: Failed to get locks for intervals[[",
      absl::StrJoin(texts, ", "),
      "]]\n\tat org.apache.druid.indexing.common.task.IndexTask.runTask(IndexTask.java:496)\n");
}

}  // namespace

void TaskQueue::Submit(Task task) {
  auto owned = std::make_unique<Task>(std::move(task));
  Task* submitted = owned.get();
  tasks_[submitted->id] = std::move(owned);
  order_.push_back(submitted);
  ++revision_;
  if (submitted->done()) return;
  live_.push_back(submitted);
  Pump();
}

Task* TaskQueue::Find(const std::string& id) {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : found->second.get();
}

std::vector<const Task*> TaskQueue::tasks() const { return {order_.begin(), order_.end()}; }

void TaskQueue::Shutdown(Task& task) {
  if (task.done()) return;
  if (task.stage == Task::Stage::kRunning && !task.subtask) {
    const Moment soon = world_.tick() + world_.options.task_duration;
    task.lingers_until = task.noop_runs && task.due ? *task.due : soon;
    lingering_.push_back(&task);
  }
  Finish(task, false, "Shutdown request from user");
  task.duration = -1;
  Pump();
}

void TaskQueue::Succeed(Task& task) {
  if (task.done()) return;
  Finish(task, true, "");
  Pump();
}

std::optional<Moment> TaskQueue::NextDue() const {
  std::optional<Moment> next;
  const auto consider = [&](const std::optional<Moment>& due) {
    // A task's end needs the overlord; it waits for one that restarts.
    if (!due) return;
    const Moment at = std::max(*due, world_.overlord_back());
    if (!next || at < *next) next = at;
  };
  for (const Task* task : live_) {
    consider(task->due);
    consider(task->awaits_until);
  }
  for (const Task* task : lingering_) consider(task->lingers_until);
  return next;
}

void TaskQueue::DoDue() {
  if (world_.tick() < world_.overlord_back()) return;
  for (Task* task : std::vector<Task*>(live_)) {
    if (task->due && *task->due <= world_.tick()) End(*task);
    if (task->awaits_until) LookWhetherServed(*task);
  }
  for (Task* task : std::vector<Task*>(lingering_)) {
    if (*task->lingers_until > world_.tick()) continue;
    task->lingers_until.reset();
    lingering_.erase(std::remove(lingering_.begin(), lingering_.end(), task), lingering_.end());
  }
  Pump();
}

void TaskQueue::Pump() {
  if (world_.tick() < world_.overlord_back()) return;
  // A task that fails as it starts frees what another waits for: until nothing moves.
  for (bool moved = true; moved;) {
    moved = false;
    for (Task* task : std::vector<Task*>(live_)) moved |= Push(*task);
  }
}

bool TaskQueue::Push(Task& task) {
  const Task::Stage before = task.stage;
  if (task.stage == Task::Stage::kWaiting && Ready(task)) task.stage = Task::Stage::kPending;
  if (task.stage == Task::Stage::kPending && UsedSlots() < world_.options.worker_slots) {
    Start(task);
  }
  return task.stage != before;
}

bool TaskQueue::Ready(Task& task) {
  return task.lock_intervals.empty() ||
         world_.locks.TryAcquire(task.group, task.datasource, task.lock_intervals, task.priority,
                                 world_.now());
}

int TaskQueue::UsedSlots() const {
  const auto running = std::count_if(live_.begin(), live_.end(), [](const Task* task) {
    return task->stage == Task::Stage::kRunning && !task->subtask;
  });
  return static_cast<int>(running) + static_cast<int>(lingering_.size());
}

void TaskQueue::Start(Task& task) {
  task.stage = Task::Stage::kRunning;
  task.started = world_.tick();
  if (task.ingest) {
    RunIngestion(task);
  } else {
    task.due = world_.tick() + task.noop_runs.value_or(world_.options.task_duration);
  }
  if (task.fate == TaskFate::kStuck) task.due.reset();
}

void TaskQueue::RunIngestion(Task& task) {
  const bool everything = task.ingest->intervals.empty();
  task.input = ReadInput(*task.ingest, world_.segments, task.lock_intervals, everything);
  if (!task.input->error.empty()) return FailIngestion(task, "BUILD_SEGMENTS", task.input->error);
  if (everything) {
    // Without intervals it locks what it found rows in, once it has read them, and does
    // not wait for those locks.
    const std::vector<Interval> written = WrittenIntervals(*task.ingest, *task.input);
    if (!world_.locks.TryAcquire(task.group, task.datasource, written, task.priority,
                                 world_.now())) {
      return FailIngestion(task, "DETERMINE_PARTITIONS", NoLocks(written));
    }
  }
  const bool parallel = task.ingest->parallel();
  if (parallel) StartSubtask(task);
  task.due = world_.tick() + world_.options.task_duration * (parallel ? kParallelFactor : 1);
}

void TaskQueue::StartSubtask(Task& parent) {
  auto subtask = std::make_unique<Task>();
  subtask->type = SubtaskType(*parent.ingest);
  subtask->id = absl::StrCat(subtask->type, "_", parent.datasource, "_", IdSuffix(submitted()), "_",
                             world_.now().ToString());
  subtask->group = parent.group;
  subtask->datasource = parent.datasource;
  subtask->created = world_.now();
  subtask->started = world_.tick();
  subtask->stage = Task::Stage::kRunning;
  subtask->subtask = true;
  subtask->payload_json = parent.payload_json;
  subtask->context_json = parent.context_json;
  parent.subtasks.push_back(subtask->id);
  order_.push_back(subtask.get());
  live_.push_back(subtask.get());
  tasks_[subtask->id] = std::move(subtask);
}

void TaskQueue::FailIngestion(Task& task, const char* state, const std::string& error) {
  task.report_json = IngestReport(task, state, error);
  Finish(task, false, error);
}

void TaskQueue::End(Task& task) {
  if (task.fate == TaskFate::kFails) return Finish(task, false, "Simulated failure");
  if (world_.locks.Revoked(task.group)) {
    return Finish(task, false,
                  "Failed with exception [Segments are not covered by locks: revoked]. See indexer "
                  "logs for details.");
  }
  if (task.fate == TaskFate::kSuccessButNothing) {
    task.report_json = EmptyReport(task);
    return Finish(task, true, "");
  }
  if (task.ingest) return EndIngestion(task);
  const absl::Status done = task.kill ? Kill(world_, task) : absl::OkStatus();
  FinishAsFated(task, done.ok(), std::string(done.message()));
}

void TaskQueue::EndIngestion(Task& task) {
  const absl::Status published = Publish(world_, task);
  if (!published.ok()) {
    return FailIngestion(task, "BUILD_SEGMENTS", std::string(published.message()));
  }
  if (task.ingest->await_millis > 0 && !task.published.empty()) {
    task.due.reset();
    task.awaits_since = world_.tick();
    task.awaits_until = world_.tick() + Moment(task.ingest->await_millis);
    return;
  }
  task.report_json = IngestReport(task, "COMPLETED", "");
  FinishAsFated(task, true, "");
}

// With the segments served, or without them when time is up: either is SUCCESS.
void TaskQueue::LookWhetherServed(Task& task) {
  const bool all =
      std::all_of(task.published.begin(), task.published.end(), [&](const std::string& id) {
        const Segment* segment = world_.segments.Find(task.datasource, id);
        return segment != nullptr && segment->announced;
      });
  if (!all && world_.tick() < *task.awaits_until) return;
  task.confirmed = all;
  task.waited = world_.tick() - task.awaits_since;
  task.report_json = IngestReport(task, "COMPLETED", "");
  FinishAsFated(task, true, "");
}

void TaskQueue::FinishAsFated(Task& task, bool success, const std::string& error) {
  if (task.fate == TaskFate::kFailedButPublished) {
    return Finish(task, false, "Task timed out waiting for a location");
  }
  Finish(task, success, error);
}

void TaskQueue::Finish(Task& task, bool success, const std::string& error) {
  for (const std::string& id : task.subtasks) Finish(*Find(id), success, error);
  ++revision_;
  task.stage = Task::Stage::kDone;
  task.success = success;
  task.error = error;
  task.duration = (world_.tick() - task.started).count();
  task.due.reset();
  task.awaits_until.reset();
  task.input.reset();
  live_.erase(std::remove(live_.begin(), live_.end(), &task), live_.end());
  if (!task.subtask) world_.locks.Release(task.group);
}

}  // namespace interlock::simulator
