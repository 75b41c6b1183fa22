#include "lib/guard/look.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace interlock::guard {
namespace {

using druid::Answer;
using druid::StreamTask;
using druid::Supervisor;

// A Date header has whole seconds: what is behind by less is not known to be.
constexpr absl::Duration kDateStep = absl::Seconds(1);

absl::Duration Behind(Instant ours, std::optional<Instant> druids) {
  if (!druids) return absl::ZeroDuration();
  const absl::Duration behind = ours - *druids;
  return behind > kDateStep ? behind : absl::ZeroDuration();
}

// Groups are named index_TYPE_ID, by the datasource up to 33 and the supervisor since: the
// whole name, as one supervisor's id may end with another's.
bool GroupNames(const StreamTask& task, const Supervisor& supervisor) {
  return task.group_id == absl::StrCat("index_", supervisor.type, "_", supervisor.id);
}

// The supervisor a task is counted to; nullptr where its datasource has none.
const Supervisor* OwnerOf(const StreamTask& task, const std::vector<Supervisor>& supervisors) {
  const Supervisor* owner = nullptr;
  for (const Supervisor& supervisor : supervisors) {
    if (!supervisor.streams() || supervisor.datasource != task.datasource) continue;
    if (owner == nullptr || GroupNames(task, supervisor)) owner = &supervisor;
  }
  return owner;
}

}  // namespace

Answer<std::vector<StreamTask>> StreamLook::LiveTasks() {
  using Tasks = Answer<std::vector<StreamTask>>;
  const auto listed = cluster_.ListStreamTasks();
  if (!listed.done()) return Tasks::Like(listed);
  std::map<std::string, StreamTask> live;
  for (const druid::TaskStatus& status : listed.value()) {
    const auto known = known_.find(status.id);
    if (known != known_.end()) {
      live[status.id] = known->second;
      continue;
    }
    const auto payload = cluster_.GetTaskPayload(status.id);
    if (payload.not_found()) continue;  // it has ended, and was forgotten
    if (!payload.done()) return Tasks::Like(payload);
    auto task = druid::ReadStreamTask(status.id, payload.value().json);
    if (!task.ok()) {
      return Tasks::Unknown(druid::Cause::kGarbled,
                            absl::StrCat("task ", status.id, ": ", task.status().ToString()));
    }
    if (task->datasource.empty()) task->datasource = status.datasource;
    if (task->group_id.empty()) task->group_id = status.group_id;
    live[status.id] = *std::move(task);
  }
  known_ = std::move(live);
  std::vector<StreamTask> tasks;
  for (const auto& [id, task] : known_) tasks.push_back(task);
  return Tasks::Done(std::move(tasks));
}

Answer<SeenStreams> StreamLook::Look(Instant now) {
  // Supervisors first: one that is posted in between makes its tasks later than it.
  const auto supervisors = cluster_.ListSupervisors();
  if (!supervisors.done()) return Answer<SeenStreams>::Like(supervisors);
  const auto tasks = LiveTasks();
  if (!tasks.done()) return Answer<SeenStreams>::Like(tasks);
  SeenStreams seen;
  for (const Supervisor& supervisor : supervisors.value()) {
    if (!supervisor.streams()) continue;
    Seen& one = seen.streams[{supervisor.datasource, supervisor.id}];
    one.supervisor = supervisor;
    one.druid_behind = Behind(now, supervisors.druid_time());
  }
  for (const StreamTask& task : tasks.value()) {
    const Supervisor* owner = OwnerOf(task, supervisors.value());
    if (owner == nullptr) seen.orphans.push_back(task);
    const std::string name = owner != nullptr ? owner->id : task.datasource;
    seen.streams[{task.datasource, name}].tasks.push_back(task);
  }
  auto answer = Answer<SeenStreams>::Done(std::move(seen));
  answer.set_druid_time(supervisors.druid_time());
  return answer;
}

}  // namespace interlock::guard
