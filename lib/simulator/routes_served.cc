// The coordinator's view of what is served, and loadstatus.
#include <map>
#include <set>

#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "lib/simulator/json.h"
#include "lib/simulator/router.h"

namespace interlock::simulator {
namespace {

constexpr auto kRead = Router::Effect::kRead;
constexpr int kDefaultDays = 14;  // of a loadstatus without an interval
constexpr char kTier[] = "_default_tier";

struct Load {
  int64_t wanted = 0;   // used and visible
  int64_t missing = 0;  // not announced
  int64_t short_of_replicas = 0;
};

// By the segments that were used at the last poll: a newer one is not missed yet.
Load CountLoad(const World& world, const std::string& datasource, const Interval& interval) {
  Load load;
  const auto polled = world.polled().used.find(datasource);
  if (polled == world.polled().used.end()) return load;
  for (const Snapshot::Entry& entry : polled->second) {
    if (!interval.Overlaps(entry.interval) || entry.overshadowed) continue;
    const Segment* segment = world.segments.Find(datasource, entry.id);
    const int replicas = segment == nullptr ? 0 : world.rules.Replicas(*segment, world.now());
    if (replicas == 0) continue;
    ++load.wanted;
    if (!segment->announced) ++load.missing;
    // One historical holds one replica of each.
    if (replicas > (segment->announced ? 1 : 0)) ++load.short_of_replicas;
  }
  return load;
}

double Percent(const Load& load) {
  if (load.wanted == 0) return 100;
  return 100.0 * static_cast<double>(load.wanted - load.missing) / static_cast<double>(load.wanted);
}

void WriteLoad(JsonWriter& out, const Request& request, const std::string& datasource,
               const Load& load) {
  if (request.Has("simple")) {
    out.Member(datasource, load.missing);
  } else if (request.Has("full")) {
    out.Member(datasource,
               request.Has("computeUsingClusterView") ? load.missing : load.short_of_replicas);
  } else {
    out.Key(datasource).Double(Percent(load));
  }
}

// With `full` the numbers stand below their tier.
std::string WriteLoads(const Request& request, const std::map<std::string, Load>& loads) {
  JsonWriter out;
  out.Object();
  if (request.Has("full")) out.Key(kTier).Object();
  for (const auto& [datasource, load] : loads) WriteLoad(out, request, datasource, load);
  if (request.Has("full")) out.End();
  out.End();
  return out.Take();
}

Reply LoadStatusOf(Call& call) {
  const std::string& datasource = call.Param("ds");
  if (!call.request.Has("forceMetadataRefresh")) {
    return Reply::Text("Invalid request. forceMetadataRefresh must be specified", 400,
                       "application/json");
  }
  if (call.request.Get("forceMetadataRefresh") == "true") call.world.Poll();
  if (call.world.polled().used.count(datasource) == 0) {
    return Reply::Empty(204, "application/json");
  }
  const Instant now = call.world.now();
  absl::StatusOr<Interval> interval = Interval::Of(now - kDefaultDays * absl::Hours(24), now);
  if (call.request.Has("interval")) {
    interval = Interval::Parse(absl::StrReplaceAll(call.request.Get("interval"), {{"_", "/"}}));
  }
  if (!interval.ok()) {
    return Reply::ErrorPage(call.request, 500, "java.lang.IllegalArgumentException");
  }
  const Load load = CountLoad(call.world, datasource, *interval);
  if (load.wanted == 0) {
    return Reply::Text("No used segment found for the given datasource and interval", 200,
                       "application/json");
  }
  return Reply::Json(WriteLoads(call.request, {{datasource, load}}));
}

Reply LoadStatus(Call& call) {
  std::map<std::string, Load> loads;
  for (const auto& [datasource, entries] : call.world.polled().used) {
    loads[datasource] = CountLoad(call.world, datasource, Interval::Eternity());
  }
  return Reply::Json(WriteLoads(call.request, loads));
}

Reply ServedDatasources(Call& call) {
  JsonWriter out;
  out.Array();
  for (const std::string& name : call.world.segments.Datasources()) {
    if (!call.world.historicals.Announced(name).empty()) out.String(name);
  }
  out.End();
  return Reply::Json(out.Take());
}

void WriteSizes(JsonWriter& out, const std::vector<const Segment*>& segments) {
  int64_t size = 0;
  std::set<Instant> ends;
  for (const Segment* segment : segments) {
    size += segment->size;
    ends.insert({segment->interval.start(), segment->interval.end()});
  }
  const int64_t count = static_cast<int64_t>(segments.size());
  out.Object().Key("tiers").Object().Key(kTier).Object();
  out.Member("size", size).Member("replicatedSize", size).Member("segmentCount", count);
  out.End().End().Key("segments").Object();
  out.Member("maxTime", ends.rbegin()->ToString()).Member("size", size);
  out.Member("minTime", ends.begin()->ToString()).Member("count", count);
  out.Member("replicatedSize", size).End().End();
}

Reply ServedDatasource(Call& call) {
  const std::vector<const Segment*> announced = call.world.historicals.Announced(call.Param("ds"));
  if (announced.empty()) return Reply::Empty(204, "application/json");
  JsonWriter out;
  WriteSizes(out, announced);
  return Reply::Json(out.Take());
}

Reply ServedSegments(Call& call) {
  const std::vector<const Segment*> announced = call.world.historicals.Announced(call.Param("ds"));
  if (announced.empty()) return Reply::Empty(204, "application/json");
  JsonWriter out;
  out.Array();
  for (const Segment* segment : announced) out.String(segment->id);
  out.End();
  return Reply::Json(out.Take());
}

}  // namespace

void AddServedRoutes(Router& router) {
  const std::string base = "/druid/coordinator/v1/";
  router.Add("GET", base + "loadstatus", kRead, LoadStatus);
  router.Add("GET", base + "datasources", kRead, ServedDatasources);
  router.Add("GET", base + "datasources/{ds}", kRead, ServedDatasource);
  router.Add("GET", base + "datasources/{ds}/segments", kRead, ServedSegments);
  router.Add("GET", base + "datasources/{ds}/loadstatus", kRead, LoadStatusOf);
}

}  // namespace interlock::simulator
