// Locks: lockedIntervals in both forms, and activeLocks.
#include <map>
#include <set>
#include <vector>

#include "lib/simulator/json.h"
#include "lib/simulator/router.h"

namespace interlock::simulator {
namespace {

constexpr auto kRead = Router::Effect::kRead;
constexpr char kNoFilter[] = "No filter provided";

struct Filter {
  std::string datasource;
  int64_t priority = 0;
  std::vector<Interval> intervals;  // empty: any
};

bool Passes(const Lock& lock, const Filter& filter) {
  if (lock.revoked || lock.datasource != filter.datasource) return false;
  if (lock.priority < filter.priority) return false;
  for (const Interval& interval : filter.intervals) {
    if (interval.Overlaps(lock.interval)) return true;
  }
  return filter.intervals.empty();
}

// The field is `datasource`, all lower case; `dataSource` names none, which answers
// nothing and looks like no lock (druid-versions 5).
absl::StatusOr<std::vector<Filter>> ReadFilters(const std::string& body) {
  absl::StatusOr<JsonDocument> json = ParseJson(body);
  if (!json.ok()) return json.status();
  if (!json->IsArray()) {
    return absl::InvalidArgumentError(
        "Cannot deserialize value of type "
        "`java.util.ArrayList<org.apache.druid.metadata.LockFilterPolicy>` from Object value "
        "(token `JsonToken.START_OBJECT`)");
  }
  std::vector<Filter> filters;
  for (const JsonValue& entry : json->GetArray()) {
    Filter filter{FindString(entry, "datasource"), FindInt(entry, "priority").value_or(0), {}};
    for (const std::string& text : FindStrings(entry, "intervals")) {
      absl::StatusOr<Interval> interval = Interval::Parse(text);
      if (!interval.ok()) return interval.status();
      filter.intervals.push_back(*interval);
    }
    filters.push_back(std::move(filter));
  }
  return filters;
}

std::string LockedIntervals(const World& world, const std::vector<Filter>& filters) {
  JsonWriter out;
  out.Object();
  for (const Filter& filter : filters) {
    std::set<Interval> locked;
    for (const Lock& lock : world.locks.locks()) {
      if (Passes(lock, filter)) locked.insert(lock.interval);
    }
    if (locked.empty()) continue;
    out.Key(filter.datasource).Array();
    for (const Interval& interval : locked) out.String(interval.ToString());
    out.End();
  }
  out.End();
  return out.Take();
}

Reply LockedIntervalsV1(Call& call) {
  absl::StatusOr<JsonDocument> json = ParseJson(call.request.body);
  if (!json.ok() || !json->IsObject()) return Reply::BadRequest("Cannot deserialize value");
  if (json->ObjectEmpty()) {
    return Reply::Text("No Datasource provided", 400, "application/json");
  }
  std::vector<Filter> filters;
  const JsonValue& object = *json;
  for (const auto& member : object.GetObject()) {
    filters.push_back(
        {member.name.GetString(), member.value.IsInt64() ? member.value.GetInt64() : 0, {}});
  }
  return Reply::Json(LockedIntervals(call.world, filters));
}

Reply LockedIntervalsV2(Call& call) {
  absl::StatusOr<std::vector<Filter>> filters = ReadFilters(call.request.body);
  if (!filters.ok()) return Reply::BadRequest(filters.status().message());
  if (filters->empty()) return Reply::Text(kNoFilter, 400, "application/json");
  // Here intervals in the filter narrow nothing.
  for (Filter& filter : *filters) filter.intervals.clear();
  return Reply::Json(LockedIntervals(call.world, *filters));
}

void WriteLock(JsonWriter& out, const Lock& lock) {
  out.Object()
      .Member("granularity", "timeChunk")
      .Member("type", lock.type)
      .Member("groupId", lock.group)
      .Member("dataSource", lock.datasource)
      .Member("interval", lock.interval.ToString())
      .Member("version", lock.version)
      .Member("priority", lock.priority)
      .Member("revoked", lock.revoked)
      .End();
}

Reply ActiveLocks(Call& call) {
  absl::StatusOr<std::vector<Filter>> filters = ReadFilters(call.request.body);
  if (!filters.ok()) return Reply::BadRequest(filters.status().message());
  if (filters->empty()) return Reply::Text(kNoFilter, 400, "application/json");
  std::map<std::string, std::vector<const Lock*>> locks;
  for (const Filter& filter : *filters) {
    for (const Lock& lock : call.world.locks.locks()) {
      if (Passes(lock, filter)) locks[filter.datasource].push_back(&lock);
    }
  }
  JsonWriter out;
  out.Object().Key("datasourceToLocks").Object();
  for (const auto& [datasource, of] : locks) {
    out.Key(datasource).Array();
    for (const Lock* lock : of) WriteLock(out, *lock);
    out.End();
  }
  out.End().End();
  return Reply::Json(out.Take());
}

}  // namespace

void AddLockRoutes(Router& router, const Traits& traits) {
  const std::string base = "/druid/indexer/v1/";
  if (traits.locked_intervals_v1) {
    router.Add("POST", base + "lockedIntervals", kRead, LockedIntervalsV1);
  }
  router.Add("POST", base + "lockedIntervals/v2", kRead, LockedIntervalsV2);
  if (traits.active_locks) router.Add("POST", base + "activeLocks", kRead, ActiveLocks);
}

}  // namespace interlock::simulator
