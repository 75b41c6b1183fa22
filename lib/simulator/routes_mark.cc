// Marks on the coordinator and, in newer versions, on the overlord: with the 500 of
// 32 and 33 that has taken effect, and the 204 of older ones that has none.
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "lib/simulator/json.h"
#include "lib/simulator/marks.h"
#include "lib/simulator/router.h"
#include "lib/simulator/spec_fields.h"
#include "lib/simulator/task_parser.h"

namespace interlock::simulator {
namespace {

constexpr auto kWrite = Router::Effect::kWrite;
constexpr char kNoBody[] = "[500 Internal Server Error]; no body";

enum class Service { kCoordinator, kOverlord };

// The coordinator's word for what the overlord answered it.
Reply ForwardFailed(const std::string& answer) {
  JsonWriter out;
  out.Object()
      .Member("error", "Unknown server error")
      .Member("message",
              absl::StrCat("org.apache.druid.rpc.HttpResponseException: Server error ", answer))
      .End();
  return Reply::Json(out.Take(), 500);
}

Reply Changed(const World& world, int64_t count, bool single) {
  JsonWriter out;
  out.Object();
  if (world.traits.marks_count_changes || !single) out.Member("numChangedSegments", count);
  if (world.traits.marks_count_changes || single) out.Member("segmentStateChanged", count > 0);
  out.End();
  return Reply::Json(out.Take());
}

// What becomes of a good reply where Druid's method forgot to say that it gives JSON: the
// change is made, and the answer is 500.
Reply Undeclared(const Call& call, Service service, const Reply& reply) {
  if (!call.world.traits.mark_used_answers_500) {
    return call.request.AsksForJson() ? reply : Reply::Empty(500);
  }
  if (!call.request.AsksForJson()) return Reply::Empty(500);
  return service == Service::kOverlord ? reply : ForwardFailed(kNoBody);
}

// A group mark is declared right in older versions, and forwarded in newer ones.
Reply MarkUsedReply(const Call& call, Service service, const Reply& reply) {
  if (!call.world.traits.mark_used_answers_500) return reply;
  if (service == Service::kCoordinator) return ForwardFailed(kNoBody);
  return call.request.AsksForJson() ? reply : Reply::Empty(500);
}

// The body, or the reply that refuses it.
struct FilterRead {
  MarkFilter filter;
  std::optional<Reply> refusal;
};

FilterRead ReadFilter(const Call& call) {
  FilterRead read;
  const std::string& body = call.request.body;
  absl::StatusOr<JsonDocument> json = ParseJson(body.empty() ? "{}" : body);
  if (!json.ok()) {
    read.refusal = Reply::ErrorPage(call.request, 500,
                                    absl::StrCat("javax.servlet.ServletException: com.fasterxml."
                                                 "jackson.core.JsonParseException: ",
                                                 json.status().message()));
    return read;
  }
  const bool newer = call.world.traits.marks_honour_versions;
  const std::string java_class =
      newer ? "org.apache.druid.server.http.SegmentsToUpdateFilter"
            : "org.apache.druid.server.http.DataSourcesResource$MarkDataSourceSegmentsPayload";
  if (json->IsArray()) {
    read.refusal =
        Reply::BadRequest(absl::StrCat("Cannot deserialize value of type `", java_class,
                                       "` from Array value (token `JsonToken.START_ARRAY`)"));
    return read;
  }
  if (Find(*json, "interval") != nullptr) {
    absl::StatusOr<Interval> interval = ParseDruidInterval(
        FindString(*json, "interval"), absl::StrCat(java_class, "[\"interval\"]"));
    if (!interval.ok()) {
      read.refusal = Reply::BadRequest(interval.status().message());
      return read;
    }
    read.filter.interval = *interval;
  }
  const std::vector<std::string> ids = FindStrings(*json, "segmentIds");
  if (!ids.empty()) read.filter.ids = ids;
  if (Find(*json, "versions") != nullptr) read.filter.versions = FindStrings(*json, "versions");
  return read;
}

bool Valid(const World& world, const MarkFilter& filter) {
  if (filter.interval.has_value() == filter.ids.has_value()) return false;
  const bool versions = filter.versions && world.traits.marks_honour_versions;
  return filter.interval || !versions;
}

Reply BadPayload(const World& world) {
  return Reply::Text(
      world.traits.marks_honour_versions
          ? "Invalid request payload. Specify either 'interval' or 'segmentIds', but not both. "
            "Optionally, include 'versions' only when 'interval' is provided."
          : "Invalid request payload, either interval or segmentIds array must be specified",
      400, "application/json");
}

bool Served(const World& world, const std::string& datasource) {
  return !world.historicals.Announced(datasource).empty();
}

// markUsed wants to know every id.
std::optional<Reply> RefuseUnknownIds(const Call& call, const MarkFilter& filter) {
  const std::string& datasource = call.Param("ds");
  std::vector<std::string> malformed, unknown;
  for (const std::string& id : filter.ids.value_or(std::vector<std::string>())) {
    if (!IsSegmentId(datasource, id)) {
      malformed.push_back(id);
    } else if (call.world.segments.Find(datasource, id) == nullptr) {
      unknown.push_back(id);
    }
  }
  if (malformed.empty() && unknown.empty()) return std::nullopt;
  return Reply::DruidError(
      400, "invalidInput", "INVALID_INPUT",
      absl::StrCat("Could not ", malformed.empty() ? "find" : "parse", " segment IDs[[",
                   absl::StrJoin(malformed.empty() ? unknown : malformed, ", "),
                   "]] for datasource[", datasource, "]"));
}

Reply MarkGroup(Call& call, Service service, bool used) {
  const std::string& datasource = call.Param("ds");
  FilterRead read = ReadFilter(call);
  if (read.refusal) return *std::move(read.refusal);
  if (!Valid(call.world, read.filter)) return BadPayload(call.world);
  // Older coordinators look among what is served and do nothing where nothing is.
  if (!call.world.traits.overlord_marks && !Served(call.world, datasource)) {
    return Reply::Empty(204, "application/json");
  }
  if (!used) return Changed(call.world, MarkUnused(call.world, datasource, read.filter), false);
  const std::optional<Reply> refusal = RefuseUnknownIds(call, read.filter);
  if (refusal && !call.world.traits.overlord_marks) {
    return Reply::Json(R"({"message":"Cannot find segments"})", 404);
  }
  if (refusal && service == Service::kOverlord) return *refusal;
  if (refusal) return ForwardFailed(absl::StrCat("[400 Bad Request]; body: ", refusal->body));
  return MarkUsedReply(call, service,
                       Changed(call.world, MarkUsed(call.world, datasource, read.filter), false));
}

Reply MarkSingle(Call& call, Service service, bool used) {
  const std::string& id = call.Param("id");
  if (!used && service == Service::kOverlord && !IsSegmentId(call.Param("ds"), id)) {
    return Reply::Text(
        absl::StrCat("Could not parse Segment ID[", id, "] for DataSource[", call.Param("ds"), "]"),
        400, "application/json");
  }
  const bool changed = MarkOne(call.world, call.Param("ds"), id, used);
  return Undeclared(call, service, Changed(call.world, changed ? 1 : 0, true));
}

MarkFilter Everything() {
  MarkFilter filter;
  filter.interval = Interval::Eternity();
  return filter;
}

Reply MarkAllUsed(Call& call, Service service) {
  const int64_t changed = MarkUsed(call.world, call.Param("ds"), Everything());
  return Undeclared(call, service, Changed(call.world, changed, false));
}

Reply MarkAllUnused(Call& call) {
  return Changed(call.world, MarkUnused(call.world, call.Param("ds"), Everything()), false);
}

// The coordinator's old way to kill: it submits a task of its own.
Reply KillInterval(Call& call) {
  JsonWriter out;
  out.Object()
      .Member("type", "kill")
      .Member("id", absl::StrCat("api-issued_kill_", call.Param("ds"), "_",
                                 IdSuffix(call.world.tasks.submitted()), "_",
                                 call.Param("interval"), "_", call.world.now().ToString()))
      .Member("dataSource", call.Param("ds"))
      .Member("interval", absl::StrReplaceAll(call.Param("interval"), {{"_", "/"}}))
      .End();
  absl::StatusOr<JsonDocument> json = ParseJson(out.Take());
  absl::StatusOr<Task> task = ParseTask(*json, call.world.traits, call.world.now(), 0);
  if (!task.ok()) return Reply::BadRequest(task.status().message());
  call.world.tasks.Submit(*std::move(task));
  return Reply::Empty(200, "application/json");
}

void AddMarks(Router& router, const std::string& base, Service service) {
  router.Add("POST", base + "/{ds}/markUnused", kWrite,
             [service](Call& call) { return MarkGroup(call, service, false); });
  router.Add("POST", base + "/{ds}/markUsed", kWrite,
             [service](Call& call) { return MarkGroup(call, service, true); });
  router.Add("POST", base + "/{ds}/segments/{id}", kWrite,
             [service](Call& call) { return MarkSingle(call, service, true); });
  router.Add("DELETE", base + "/{ds}/segments/{id}", kWrite,
             [service](Call& call) { return MarkSingle(call, service, false); });
  router.Add("POST", base + "/{ds}", kWrite,
             [service](Call& call) { return MarkAllUsed(call, service); });
  router.Add("DELETE", base + "/{ds}", kWrite, MarkAllUnused);
}

}  // namespace

void AddMarkRoutes(Router& router, const Traits& traits) {
  const std::string coordinator = "/druid/coordinator/v1/datasources";
  AddMarks(router, coordinator, Service::kCoordinator);
  router.Add("DELETE", coordinator + "/{ds}/intervals/{interval}", kWrite, KillInterval);
  if (traits.overlord_marks) {
    AddMarks(router, "/druid/indexer/v1/datasources", Service::kOverlord);
  }
}

}  // namespace interlock::simulator
