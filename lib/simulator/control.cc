#include "lib/simulator/control.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/simulator/json.h"
#include "lib/simulator/report.h"

namespace interlock::simulator {
namespace {

constexpr char kDone[] = "{}";

Moment Millis(const JsonValue& json, const char* name) {
  return Moment(FindInt(json, name).value_or(0));
}

void WriteSegments(JsonWriter& out, World& world) {
  out.Key("segments").Array();
  for (const std::string& datasource : world.segments.Datasources()) {
    for (const Segment* segment : world.segments.All(datasource)) {
      out.Object().Member("id", segment->id).Member("used", segment->used);
      out.Member("announced", segment->announced).Member("tombstone", segment->tombstone);
      out.Member("rows", static_cast<int64_t>(segment->rows->rows.size()));
      out.Member("file", segment->file).End();
    }
  }
  out.End();
}

Reply State(World& world) {
  JsonWriter out;
  out.Object().Member("now", world.now().ToString()).Member("version", world.traits.version);
  WriteSegments(out, world);
  out.Key("tasks").Array();
  for (const Task* task : world.tasks.tasks()) WriteStatus(out, *task, StatusPlace::kList);
  out.End().Key("locks").Array();
  for (const Lock& lock : world.locks.locks()) {
    out.Object().Member("group", lock.group).Member("datasource", lock.datasource);
    out.Member("interval", lock.interval.ToString()).Member("version", lock.version);
    out.Member("priority", lock.priority).Member("revoked", lock.revoked).End();
  }
  out.End().End();
  return Reply::Json(out.Take());
}

Reply AddFault(Backstage& backstage, const Request& request) {
  absl::StatusOr<int> id = backstage.faults.Add(request.body, backstage.world.segments);
  if (!id.ok()) return Reply::BadRequest(id.status().message());
  return Reply::Json(absl::StrCat(R"({"id":)", *id, "}"));
}

Reply RestartOverlord(World& world, const JsonValue& json) {
  Restart restart;
  restart.refused_until = world.tick() + Millis(json, "refused_ms");
  restart.redirect_until = restart.refused_until + Millis(json, "redirect_ms");
  restart.unavailable_until = restart.redirect_until + Millis(json, "unavailable_ms");
  world.BeginRestart(restart);
  return Reply::Json(kDone);
}

Reply MoveClock(Backstage& backstage, const JsonValue& json) {
  for (const auto& member : json.GetObject()) {
    const absl::string_view name = member.name.GetString();
    if (name != "advance_ms" && name != "wall_skew_ms" && name != "date_skew_ms") {
      return Reply::BadRequest(absl::StrCat("the clock has no ", name));
    }
  }
  backstage.skew.advanced += Millis(json, "advance_ms");
  if (json.HasMember("wall_skew_ms")) backstage.skew.wall = Millis(json, "wall_skew_ms");
  if (json.HasMember("date_skew_ms")) backstage.skew.date = Millis(json, "date_skew_ms");
  return Reply::Json(kDone);
}

Reply HoldLock(World& world, const JsonValue& json) {
  Lock lock;
  lock.group = FindString(json, "group");
  lock.datasource = FindString(json, "datasource");
  lock.type = FindString(json, "type", "EXCLUSIVE");
  lock.priority = FindInt(json, "priority").value_or(75);
  absl::StatusOr<Interval> interval = Interval::Parse(FindString(json, "interval"));
  if (!interval.ok()) return Reply::BadRequest(interval.status().message());
  if (lock.group.empty() || lock.datasource.empty()) {
    return Reply::BadRequest("a lock has a group and a datasource");
  }
  lock.interval = *interval;
  world.locks.Hold(std::move(lock), world.now());
  return Reply::Json(kDone);
}

Reply SetDuties(World& world, const JsonValue& json) {
  const std::optional<int64_t> after = FindInt(json, "mark_overshadowed_after_ms");
  world.mark_overshadowed_after.reset();
  if (after) world.mark_overshadowed_after = Moment(*after);
  for (const std::string& datasource : world.segments.Datasources()) {
    world.SegmentsChanged(datasource);
  }
  return Reply::Json(kDone);
}

Reply PauseLoading(World& world, const JsonValue& json) {
  world.historicals.SetPaused(FindBool(json, "paused", true));
  return Reply::Json(kDone);
}

Reply Produce(World& world, const JsonValue& json) {
  const std::string topic = FindString(json, "topic");
  if (topic.empty()) return Reply::BadRequest("a message has a topic");
  world.streams.Produce(topic, FindStrings(json, "rows"));
  return Reply::Json(kDone);
}

Reply Post(Backstage& backstage, absl::string_view what, const Request& request) {
  if (what == "faults") return AddFault(backstage, request);
  absl::StatusOr<JsonDocument> json = ParseJson(request.body.empty() ? "{}" : request.body);
  if (!json.ok()) return Reply::BadRequest(json.status().message());
  if (!json->IsObject()) return Reply::BadRequest("an object is wanted");
  if (what == "restart-overlord") return RestartOverlord(backstage.world, *json);
  if (what == "clock") return MoveClock(backstage, *json);
  if (what == "loading") return PauseLoading(backstage.world, *json);
  if (what == "duties") return SetDuties(backstage.world, *json);
  if (what == "topics") return Produce(backstage.world, *json);
  if (what == "locks") return HoldLock(backstage.world, *json);
  return Reply::Empty(404);
}

Reply Get(Backstage& backstage, absl::string_view what, const Request& request) {
  if (what == "state") return State(backstage.world);
  if (what == "requests") return Reply::Json(backstage.log.ToJson(request));
  if (what == "faults") return Reply::Json(backstage.faults.ToJson());
  return Reply::Empty(404);
}

Reply Delete(Backstage& backstage, absl::string_view what) {
  int id = 0;
  if (what == "requests") {
    backstage.log.Clear();
  } else if (what == "faults") {
    backstage.faults.Clear();
  } else if (absl::ConsumePrefix(&what, "faults/")) {
    if (!absl::SimpleAtoi(what, &id) || !backstage.faults.Remove(id)) return Reply::Empty(404);
  } else if (absl::ConsumePrefix(&what, "locks/")) {
    backstage.world.locks.Release(std::string(what));
    backstage.world.tasks.Pump();
  } else {
    return Reply::Empty(404);
  }
  return Reply::Json(kDone);
}

}  // namespace

Reply ServeControl(Backstage& backstage, const Request& request) {
  absl::string_view what = request.path;
  absl::ConsumePrefix(&what, "/simulator/");
  if (request.method == "POST") return Post(backstage, what, request);
  if (request.method == "GET") return Get(backstage, what, request);
  if (request.method == "DELETE") return Delete(backstage, what);
  return Reply::Empty(405);
}

}  // namespace interlock::simulator
