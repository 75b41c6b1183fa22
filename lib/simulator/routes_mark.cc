// Marks on the coordinator and, in newer versions, on the overlord: with the 500 of
// 32 and 33 that has taken effect, and the 204 of older ones that has none.
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
constexpr char kForwardFailed[] =
    R"({"error":"Unknown server error","message":"org.apache.druid.rpc.HttpResponseException: )"
    R"(Server error [500 Internal Server Error]; no body"})";

enum class Service { kCoordinator, kOverlord };

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
Reply Undeclared(const Call& call, Service service, Reply reply) {
  if (!call.world.traits.mark_used_answers_500) {
    return call.request.AsksForJson() ? reply : Reply::Empty(500);
  }
  if (!call.request.AsksForJson()) return Reply::Empty(500);
  return service == Service::kOverlord ? reply : Reply::Json(kForwardFailed, 500);
}

// A group mark is declared right in older versions, and forwarded in newer ones.
Reply MarkUsedReply(const Call& call, Service service, Reply reply) {
  if (!call.world.traits.mark_used_answers_500) return reply;
  if (service == Service::kCoordinator) return Reply::Json(kForwardFailed, 500);
  return call.request.AsksForJson() ? reply : Reply::Empty(500);
}

absl::StatusOr<MarkFilter> ReadFilter(const Call& call) {
  absl::StatusOr<JsonDocument> json = ParseJson(call.request.body);
  if (!json.ok()) return json.status();
  MarkFilter filter;
  const bool newer = call.world.traits.marks_honour_versions;
  if (Find(*json, "interval") != nullptr) {
    const std::string chain =
        newer ? "org.apache.druid.server.http.SegmentsToUpdateFilter[\"interval\"]"
              : "org.apache.druid.server.http.DataSourcesResource$MarkDataSourceSegmentsPayload"
                "[\"interval\"]";
    absl::StatusOr<Interval> interval = ParseDruidInterval(FindString(*json, "interval"), chain);
    if (!interval.ok()) return interval.status();
    filter.interval = *interval;
  }
  if (Find(*json, "segmentIds") != nullptr) filter.ids = FindStrings(*json, "segmentIds");
  if (Find(*json, "versions") != nullptr) filter.versions = FindStrings(*json, "versions");
  return filter;
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

Reply MarkGroup(Call& call, Service service, bool used) {
  const std::string& datasource = call.Param("ds");
  absl::StatusOr<MarkFilter> filter = ReadFilter(call);
  if (!filter.ok()) return Reply::BadRequest(filter.status().message());
  if (!Valid(call.world, *filter)) return BadPayload(call.world);
  // Older coordinators look among what is served and do nothing where nothing is.
  if (!call.world.traits.overlord_marks && !Served(call.world, datasource)) {
    return Reply::Empty(204, "application/json");
  }
  if (!used) return Changed(call.world, MarkUnused(call.world, datasource, *filter), false);
  const std::vector<std::string> unknown = UnknownIds(call.world, datasource, *filter);
  if (!unknown.empty() && service == Service::kOverlord) {
    return Reply::DruidError(
        400, "invalidInput", "INVALID_INPUT",
        absl::StrCat("Could not find segment IDs[[", absl::StrJoin(unknown, ", "),
                     "]] for datasource[", datasource, "]"));
  }
  return MarkUsedReply(call, service,
                       Changed(call.world, MarkUsed(call.world, datasource, *filter), false));
}

Reply MarkSingle(Call& call, Service service, bool used) {
  const bool changed = MarkOne(call.world, call.Param("ds"), call.Param("id"), used);
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
