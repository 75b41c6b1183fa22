// Tasks: submit, status, payload, reports, shutdown, lists.
#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/simulator/json.h"
#include "lib/simulator/report.h"
#include "lib/simulator/router.h"
#include "lib/simulator/task_parser.h"

namespace interlock::simulator {
namespace {

constexpr auto kRead = Router::Effect::kRead;
constexpr auto kWrite = Router::Effect::kWrite;

Reply TaskOnly(const std::string& id) {
  JsonWriter out;
  out.Object().Member("task", id).End();
  return Reply::Json(out.Take());
}

Reply NoTask(const std::string& id) {
  return Reply::Text(absl::StrCat("Cannot find any task with id: [", id, "]"), 404);
}

Reply AlreadyExists(const World& world, const std::string& id) {
  if (!world.traits.druid_exceptions) {
    return Reply::BadRequest(absl::StrCat("Task [", id, "] already exists."));
  }
  return Reply::DruidError(400, "entryAlreadyExists", "INVALID_INPUT",
                           absl::StrCat("Task[", id, "] already exists"));
}

Reply Submit(Call& call) {
  if (call.request.body.empty()) {
    return Reply::ErrorPage(call.request, 500,
                            "java.lang.NullPointerException: Cannot invoke \"org.apache.druid."
                            "indexing.common.task.Task.getDestinationResource()\" because "
                            "\"task\" is null");
  }
  absl::StatusOr<JsonDocument> json = ParseJson(call.request.body);
  if (!json.ok()) {
    return Reply::ErrorPage(
        call.request, 500,
        absl::StrCat("javax.servlet.ServletException: com.fasterxml.jackson.core."
                     "JsonParseException: ",
                     json.status().message()));
  }
  absl::StatusOr<Task> task =
      ParseTask(*json, call.world.traits, call.world.now(), call.world.tasks.submitted());
  if (!task.ok()) return Reply::BadRequest(task.status().message());
  const std::string id = task->id;
  if (call.world.tasks.Find(id) != nullptr) return AlreadyExists(call.world, id);
  task->fate = call.fate;
  call.world.tasks.Submit(*std::move(task));
  return TaskOnly(id);
}

Reply GetStatus(Call& call) {
  const Task* task = call.world.tasks.Find(call.Param("id"));
  if (task == nullptr) return NoTask(call.Param("id"));
  JsonWriter out;
  out.Object().Member("task", task->id);
  WriteStatus(out.Key("status"), *task, StatusPlace::kSingle);
  out.End();
  return Reply::Json(out.Take());
}

Reply GetPayload(Call& call) {
  const Task* task = call.world.tasks.Find(call.Param("id"));
  if (task == nullptr) return NoTask(call.Param("id"));
  JsonWriter out;
  out.Object().Member("task", task->id).RawMember("payload", task->payload_json).End();
  return Reply::Json(out.Take());
}

Reply GetReports(Call& call) {
  const Task* task = call.world.tasks.Find(call.Param("id"));
  if (task == nullptr) return NoTask(call.Param("id"));
  if (!task->report_json.empty()) return Reply::Json(task->report_json);
  if (task->stage == Task::Stage::kRunning) return Reply::Json(LiveReport(*task));
  return Reply::Text(
      "No task reports were found for this task. The task may not exist, or it may not have "
      "completed yet.",
      404, "application/json");
}

Reply GetLog(Call& call) {
  const Task* task = call.world.tasks.Find(call.Param("id"));
  if (task == nullptr) return NoTask(call.Param("id"));
  if (call.request.AsksForJson()) return Reply::Empty(406);
  return Reply::Text(
      "No log was found for this task. The task may not exist, or it may not have begun running "
      "yet.",
      404);
}

Reply Shutdown(Call& call) {
  Task* task = call.world.tasks.Find(call.Param("id"));
  if (task == nullptr) return NoTask(call.Param("id"));
  call.world.tasks.Shutdown(*task);
  return TaskOnly(task->id);
}

bool InState(const Task& task, const std::string& state) {
  switch (task.stage) {
    case Task::Stage::kWaiting:
      return state == "waiting";
    case Task::Stage::kPending:
      return state == "pending";
    case Task::Stage::kRunning:
      return state == "running";
    case Task::Stage::kDone:
      return state == "complete";
  }
  return false;
}

// The live ones first, then the finished ones, newest first, as Druid lists them.
std::vector<const Task*> InListOrder(const World& world) {
  std::vector<const Task*> tasks = world.tasks.tasks();
  std::reverse(tasks.begin(), tasks.end());
  std::stable_partition(tasks.begin(), tasks.end(), [](const Task* task) { return !task->done(); });
  return tasks;
}

Reply List(Call& call, const std::string& state) {
  const std::string datasource = call.request.Get("datasource");
  const std::string type = call.request.Get("type");
  // Of the finished ones only; the list has the others whole.
  int64_t left = std::numeric_limits<int64_t>::max();
  if (call.request.Has("max") && !absl::SimpleAtoi(call.request.Get("max"), &left)) {
    return Reply::Empty(404);
  }
  JsonWriter out;
  out.Array();
  for (const Task* task : InListOrder(call.world)) {
    if (!state.empty() && !InState(*task, state)) continue;
    if (!datasource.empty() && task->datasource != datasource) continue;
    if (!type.empty() && task->type != type) continue;
    if (task->done() && left-- <= 0) break;
    WriteStatus(out, *task, StatusPlace::kList);
  }
  out.End();
  return Reply::Json(out.Take());
}

Reply ListTasks(Call& call) {
  const std::string state = call.request.Get("state");
  const bool valid = state.empty() || state == "pending" || state == "waiting" ||
                     state == "running" || state == "complete";
  if (valid) return List(call, state);
  const bool newer = call.world.traits.druid_exceptions;
  return Reply::Text(
      newer ? absl::StrCat("Invalid task state[", state,
                           "]. Must be one of [pending, waiting, running, complete].")
            : absl::StrCat("Invalid state : ", state,
                           ", valid values are: [pending, waiting, running, complete]"),
      400);
}

Reply TaskStatuses(Call& call) {
  if (call.request.body.empty()) return Reply::Empty(415);
  absl::StatusOr<JsonDocument> ids = ParseJson(call.request.body);
  if (!ids.ok() || !ids->IsArray()) return Reply::BadRequest("Cannot deserialize value");
  if (ids->Empty()) return Reply::Text("No Task IDs provided.", 400, "application/json");
  JsonWriter out;
  out.Object();
  for (const JsonValue& id : ids->GetArray()) {
    const Task* task = id.IsString() ? call.world.tasks.Find(id.GetString()) : nullptr;
    if (task != nullptr) WriteShortStatus(out.Key(task->id), *task);
  }
  out.End();
  return Reply::Json(out.Take());
}

}  // namespace

void AddTaskRoutes(Router& router) {
  const std::string base = "/druid/indexer/v1/";
  router.Add("POST", base + "task", kWrite, Submit);
  router.Add("GET", base + "task/{id}/status", kRead, GetStatus);
  router.Add("GET", base + "task/{id}", kRead, GetPayload);
  router.Add("GET", base + "task/{id}/reports", kRead, GetReports);
  router.Add("GET", base + "task/{id}/log", kRead, GetLog);
  router.Add("POST", base + "task/{id}/shutdown", kWrite, Shutdown);
  router.Add("GET", base + "tasks", kRead, ListTasks);
  router.Add("POST", base + "taskStatus", kRead, TaskStatuses);
  for (const char* state : {"running", "pending", "waiting", "complete"}) {
    router.Add("GET", absl::StrCat(base, state, "Tasks"), kRead,
               [state = std::string(state)](Call& call) { return List(call, state); });
  }
}

}  // namespace interlock::simulator
