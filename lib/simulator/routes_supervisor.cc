// Supervisors: posted, listed, asked how they do, suspended, resumed, terminated.
#include "absl/strings/str_cat.h"
#include "lib/simulator/json.h"
#include "lib/simulator/router.h"

namespace interlock::simulator {
namespace {

constexpr auto kRead = Router::Effect::kRead;
constexpr auto kWrite = Router::Effect::kWrite;

Reply NoSupervisor(Call& call) {
  return Reply::Text(absl::StrCat("Cannot find any supervisor with id: [", call.Param("id"), "]"),
                     404);
}

const char* StateOf(const SimulatedSupervisor& supervisor) {
  return supervisor.suspended ? "SUSPENDED" : supervisor.task.empty() ? "PENDING" : "RUNNING";
}

std::string SpecOf(const SimulatedSupervisor& supervisor) {
  std::string spec = supervisor.spec_json;
  spec.pop_back();  // its brace
  return absl::StrCat(spec, R"(,"suspended":)", supervisor.suspended ? "true" : "false", "}");
}

Reply Post(Call& call) {
  absl::StatusOr<JsonDocument> json = ParseJson(call.request.body);
  if (!json.ok() || !json->IsObject()) return Reply::BadRequest("Cannot deserialize value");
  absl::StatusOr<std::string> id = call.world.streams.Post(*json);
  if (!id.ok()) return Reply::BadRequest(id.status().message());
  JsonWriter out;
  out.Object().Member("id", *id).End();
  return Reply::Json(out.Take());
}

void WriteStates(JsonWriter& out, const SimulatedSupervisor& supervisor) {
  out.Member("state", StateOf(supervisor)).Member("detailedState", StateOf(supervisor));
  out.Member("healthy", true);
}

Reply List(Call& call) {
  const bool full = call.request.Has("full");
  const bool states = call.request.Get("state") == "true";
  JsonWriter out;
  out.Array();
  for (const SimulatedSupervisor* supervisor : call.world.streams.All()) {
    if (!full && !states) {
      out.String(supervisor->id);
      continue;
    }
    out.Object().Member("id", supervisor->id);
    WriteStates(out, *supervisor);
    // Says false of a suspended one; its spec tells (measured on 33.0.0).
    out.Member("suspended", !full && supervisor->suspended);
    if (full) out.RawMember("spec", SpecOf(*supervisor));
    out.End();
  }
  out.End();
  return Reply::Json(out.Take());
}

Reply Get(Call& call) {
  const SimulatedSupervisor* supervisor = call.world.streams.Find(call.Param("id"));
  return supervisor == nullptr ? NoSupervisor(call) : Reply::Json(SpecOf(*supervisor));
}

void WriteTask(JsonWriter& out, const SimulatedSupervisor& supervisor) {
  out.Object().Member("id", supervisor.task);
  out.Key("startingOffsets").Object().Member("0", supervisor.committed).End();
  out.NullMember("startTime");
  out.Member("type", supervisor.publishing ? "PUBLISHING" : "ACTIVE");
  out.Key("currentOffsets").Object().Member("0", supervisor.read).End().End();
}

Reply Status(Call& call) {
  const SimulatedSupervisor* supervisor = call.world.streams.Find(call.Param("id"));
  if (supervisor == nullptr) return NoSupervisor(call);
  const int64_t latest = call.world.streams.LatestOffset(supervisor->topic);
  const bool has_task = !supervisor->task.empty();
  JsonWriter out;
  out.Object().Member("id", supervisor->id).Member("generationTime", call.world.now().ToString());
  out.Key("payload").Object().Member("dataSource", supervisor->datasource);
  out.Member("stream", supervisor->topic).Member("partitions", 1).Member("replicas", 1);
  out.Key("activeTasks").Array();
  if (has_task && !supervisor->publishing) WriteTask(out, *supervisor);
  out.End().Key("publishingTasks").Array();
  if (has_task && supervisor->publishing) WriteTask(out, *supervisor);
  out.End().Key("latestOffsets").Object().Member("0", latest).End();
  out.Member("aggregateLag", latest - supervisor->read);
  out.Member("suspended", supervisor->suspended);
  WriteStates(out, *supervisor);
  out.Key("recentErrors").Array().End().End().End();
  return Reply::Json(out.Take());
}

Reply Stats(Call& call) {
  const SimulatedSupervisor* supervisor = call.world.streams.Find(call.Param("id"));
  if (supervisor == nullptr) return NoSupervisor(call);
  JsonWriter out;
  out.Object().Key("0").Object();
  if (!supervisor->task.empty()) {
    out.Key(supervisor->task).Object().Key("totals").Object().Key("buildSegments").Object();
    out.Member("processed", supervisor->read - supervisor->committed);
    out.Member("thrownAway", supervisor->thrown_away).Member("unparseable", 0);
    out.End().End().End();
  }
  out.End().End();
  return Reply::Json(out.Take());
}

using Change = absl::Status (Streams::*)(const std::string&);

Reply Switch(Call& call, Change change) {
  const std::string& id = call.Param("id");
  if (call.world.streams.Find(id) == nullptr) return NoSupervisor(call);
  const absl::Status status = (call.world.streams.*change)(id);
  if (!status.ok()) return Reply::BadRequest(status.message());
  return Reply::Json(SpecOf(*call.world.streams.Find(id)));
}

Reply Terminate(Call& call) {
  const std::string id = call.Param("id");
  if (call.world.streams.Find(id) == nullptr) return NoSupervisor(call);
  call.world.streams.Terminate(id);
  JsonWriter out;
  out.Object().Member("id", id).End();
  return Reply::Json(out.Take());
}

}  // namespace

void AddSupervisorRoutes(Router& router) {
  const std::string base = "/druid/indexer/v1/supervisor";
  router.Add("POST", base, kWrite, Post);
  router.Add("GET", base, kRead, List);
  router.Add("GET", base + "/{id}", kRead, Get);
  router.Add("GET", base + "/{id}/status", kRead, Status);
  router.Add("GET", base + "/{id}/stats", kRead, Stats);
  router.Add("POST", base + "/{id}/suspend", kWrite,
             [](Call& call) { return Switch(call, &Streams::Suspend); });
  router.Add("POST", base + "/{id}/resume", kWrite,
             [](Call& call) { return Switch(call, &Streams::Resume); });
  router.Add("POST", base + "/{id}/terminate", kWrite, Terminate);
}

}  // namespace interlock::simulator
