// Supervisors of the overlord: apache/druid,
// indexing-service/…/overlord/supervisor/SupervisorResource.java.
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"
#include "lib/druid/supervisor_json.h"
#include "lib/druid/task_json.h"
#include "lib/druid/url.h"

namespace interlock::druid {
namespace {

constexpr char kSupervisors[] = "/druid/indexer/v1/supervisor";

Call AboutSupervisor(const std::string& endpoint, const std::string& id, const std::string& rest) {
  Call call;
  call.endpoint = endpoint;
  call.path = absl::StrCat(kSupervisors, "/", EscapeUrl(id), rest);
  call.supervisor_id = id;
  return call;
}

// Each answers with the whole spec, suspended or not.
Call Switch(const std::string& endpoint, const std::string& id, const std::string& rest) {
  Call call = AboutSupervisor(endpoint, id, rest);
  call.method = "POST";
  call.changes = true;
  return call;
}

}  // namespace

Answer<std::vector<Supervisor>> Cluster::ListSupervisors() {
  std::vector<Supervisor> supervisors;
  Call call;
  call.endpoint = "supervisor_list";
  call.path = absl::StrCat(kSupervisors, "?full");
  call.read = ReadsJson([&](const rapidjson::Document& reply) -> std::string {
    supervisors.clear();
    if (!reply.IsArray()) return "a list of supervisors that is no array";
    for (const auto& element : reply.GetArray()) {
      supervisors.push_back(ReadSupervisor(element));
      if (supervisors.back().id.empty()) return "a supervisor without an id";
    }
    return "";
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(supervisors));
}

Answer<SupervisorHealth> Cluster::GetSupervisorHealth(const std::string& id) {
  SupervisorHealth health;
  Call call = AboutSupervisor("supervisor_status", id, "/status");
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    const std::string got = TextMember(reply, "id");
    if (got != id) return absl::StrCat("asked about supervisor ", id, ", got one about ", got);
    health = ReadSupervisorHealth(reply);
    return std::string();
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(health));
}

Answer<std::map<std::string, StreamCounts>> Cluster::GetSupervisorCounts(const std::string& id) {
  std::map<std::string, StreamCounts> counts;
  Call call = AboutSupervisor("supervisor_stats", id, "/stats");
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    if (!reply.IsObject()) return std::string("stats that are no object");
    counts = ReadStreamCounts(reply);
    return std::string();
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(counts));
}

Answer<Nothing> Cluster::SuspendSupervisor(const std::string& id) {
  return WithValue(impl_->caller.Send(Switch("supervisor_suspend", id, "/suspend")), Nothing());
}

Answer<Nothing> Cluster::ResumeSupervisor(const std::string& id) {
  return WithValue(impl_->caller.Send(Switch("supervisor_resume", id, "/resume")), Nothing());
}

Answer<std::vector<TaskStatus>> Cluster::ListStreamTasks() {
  std::map<std::string, TaskStatus> live;
  Answer<HttpReply> answer = Answer<HttpReply>::Done({});
  // In the order in which a task moves on, so that none is missed between two lists.
  for (const char* state : {"waiting", "pending", "running"}) {
    std::vector<TaskStatus> listed;
    Call call;
    call.endpoint = "task_list";
    call.path = absl::StrCat("/druid/indexer/v1/tasks?state=", state);
    call.read = ReadsJson([&](const rapidjson::Document& reply) {
      listed.clear();
      if (!reply.IsArray()) return std::string("a list of tasks that is no array");
      for (const auto& task : reply.GetArray()) listed.push_back(ReadTaskStatus(task));
      return std::string();
    });
    answer = impl_->caller.Send(call);
    if (!answer.done()) break;
    for (TaskStatus& task : listed) {
      if (IsStreamTaskType(task.type)) live[task.id] = std::move(task);
    }
  }
  std::vector<TaskStatus> tasks;
  for (auto& [id, task] : live) tasks.push_back(std::move(task));
  return WithValue(answer, std::move(tasks));
}

}  // namespace interlock::druid
