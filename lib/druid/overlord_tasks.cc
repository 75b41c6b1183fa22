// Tasks of the overlord: apache/druid,
// indexing-service/…/overlord/http/OverlordResource.java.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/druid/cluster_impl.h"
#include "lib/druid/task_json.h"
#include "lib/druid/url.h"

namespace interlock::druid {
namespace {

std::string TaskPath(const std::string& id, const std::string& rest = "") {
  return absl::StrCat("/druid/indexer/v1/task/", EscapeUrl(id), rest);
}

Call AboutTask(const std::string& endpoint, const std::string& id, const std::string& rest) {
  Call call;
  call.endpoint = endpoint;
  call.path = TaskPath(id, rest);
  call.task_id = id;
  return call;
}

std::string OtherTask(const std::string& asked, const std::string& got) {
  return absl::StrCat("asked about task ", asked, ", got a reply about ",
                      got.empty() ? "none" : got);
}

}  // namespace

Answer<std::string> Cluster::SubmitTask(const std::string& task_json) {
  rapidjson::Document task;
  std::string why;
  if (!ParseJson(task_json, &task, &why)) {
    return Answer<std::string>::Refused(Cause::kInvalid, absl::StrCat("a task that is ", why));
  }
  const std::string id = TextMember(task, "id");
  if (id.empty()) {
    // Druid would make one up, and a lost reply could never be settled.
    return Answer<std::string>::Refused(Cause::kInvalid, "a task without an id");
  }
  Call call;
  call.endpoint = "task_submit";
  call.method = "POST";
  call.path = "/druid/indexer/v1/task";
  call.body = task_json;
  call.changes = true;
  call.submits = true;
  call.task_id = id;
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    const std::string got = TextMember(reply, "task");
    return got == id ? std::string() : OtherTask(id, got);
  });
  return WithValue(impl_->caller.Send(call), id);
}

Answer<TaskStatus> Cluster::GetTaskStatus(const std::string& id) {
  TaskStatus status;
  Call call = AboutTask("task_status", id, "/status");
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    const rapidjson::Value* value = Member(reply, "status");
    if (value == nullptr) return std::string("a task status without \"status\"");
    status = ReadTaskStatus(*value);
    if (status.id.empty()) status.id = TextMember(reply, "task");
    return status.id == id ? std::string() : OtherTask(id, status.id);
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(status));
}

Answer<std::map<std::string, TaskStatus>> Cluster::GetTaskStatuses(
    const std::vector<std::string>& ids) {
  std::map<std::string, TaskStatus> statuses;
  // Druid answers an empty list with 400.
  if (ids.empty()) return Answer<std::map<std::string, TaskStatus>>::Done(statuses);
  Call call;
  call.endpoint = "task_statuses";
  call.method = "POST";
  call.path = "/druid/indexer/v1/taskStatus";
  call.body = absl::StrCat(
      "[",
      absl::StrJoin(ids, ",",
                    [](std::string* out, const std::string& id) { out->append(QuoteJson(id)); }),
      "]");
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    statuses.clear();
    if (!reply.IsObject()) return std::string("task statuses that are no object");
    for (const auto& member : reply.GetObject()) {
      const std::string id = member.name.GetString();
      TaskStatus status = ReadTaskStatus(member.value);
      if (status.id != id) return OtherTask(id, status.id);
      statuses[id] = std::move(status);
    }
    return std::string();
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(statuses));
}

Answer<TaskPayload> Cluster::GetTaskPayload(const std::string& id) {
  TaskPayload task;
  Call call = AboutTask("task_payload", id, "");
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    const std::string got = TextMember(reply, "task");
    const rapidjson::Value* payload = Member(reply, "payload");
    if (got != id) return OtherTask(id, got);
    if (payload == nullptr || !payload->IsObject()) return std::string("a task without a payload");
    task = ReadTaskPayload(id, *payload);
    return std::string();
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(task));
}

Answer<TaskReport> Cluster::GetTaskReport(const std::string& id) {
  TaskReport report;
  Call call = AboutTask("task_report", id, "/reports");
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    if (!reply.IsObject()) return std::string("task reports that are no object");
    report = ReadTaskReport(reply);
    return std::string();
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(report));
}

Answer<Nothing> Cluster::ShutdownTask(const std::string& id) {
  Call call = AboutTask("task_shutdown", id, "/shutdown");
  call.method = "POST";
  call.changes = true;
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    const std::string got = TextMember(reply, "task");
    return got == id ? std::string() : OtherTask(id, got);
  });
  return WithValue(impl_->caller.Send(call), Nothing());
}

// A task moves from waiting to pending to running: asked in this order, one that moves on
// meanwhile is found in the next list, or in both (and the later one counts).
Answer<std::vector<TaskStatus>> Cluster::ListLiveTasks(const std::string& datasource) {
  std::map<std::string, TaskStatus> live;
  Answer<HttpReply> answer = Answer<HttpReply>::Done({});
  for (const char* state : {"waiting", "pending", "running"}) {
    std::vector<TaskStatus> listed;
    Call call;
    call.endpoint = "task_list";
    call.path = absl::StrCat("/druid/indexer/v1/tasks?datasource=", EscapeUrl(datasource),
                             "&state=", state);
    call.read = ReadsJson([&](const rapidjson::Document& reply) {
      listed.clear();
      if (!reply.IsArray()) return std::string("a list of tasks that is no array");
      for (const auto& task : reply.GetArray()) listed.push_back(ReadTaskStatus(task));
      return std::string();
    });
    answer = impl_->caller.Send(call);
    if (!answer.done()) break;
    for (TaskStatus& task : listed) {
      if (task.datasource == datasource) live[task.id] = std::move(task);
    }
  }
  std::vector<TaskStatus> tasks;
  for (auto& [id, task] : live) tasks.push_back(std::move(task));
  return WithValue(answer, std::move(tasks));
}

}  // namespace interlock::druid
