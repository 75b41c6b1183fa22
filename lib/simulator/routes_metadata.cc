// The coordinator's metadata view: lists of used segments, from memory (GET, as stale as
// the last poll) and from the store (POST), and of unused ones.
#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/simulator/json.h"
#include "lib/simulator/router.h"
#include "lib/simulator/spec_fields.h"

namespace interlock::simulator {
namespace {

constexpr auto kRead = Router::Effect::kRead;
using Entries = std::vector<Snapshot::Entry>;

const Entries& EntriesOf(const Snapshot& snapshot, const std::string& datasource) {
  static const Entries kNone;
  const auto found = snapshot.used.find(datasource);
  return found == snapshot.used.end() ? kNone : found->second;
}

std::string WriteEntries(const Entries& entries, bool full) {
  JsonWriter out;
  out.Array();
  for (const Snapshot::Entry& entry : entries) {
    full ? out.Raw(entry.json) : out.String(entry.id);
  }
  out.End();
  return out.Take();
}

const Snapshot& InMemory(const Call& call) {
  return call.stale != nullptr ? *call.stale : call.world.polled();
}

Reply ListDatasources(Call& call) {
  std::set<std::string> names;
  for (const auto& [name, entries] : InMemory(call).used) names.insert(name);
  if (call.request.Has("includeUnused") || call.request.Has("includeDisabled")) {
    for (const std::string& name : call.world.segments.Datasources()) names.insert(name);
  }
  JsonWriter out;
  out.Array();
  for (const std::string& name : names) out.String(name);
  out.End();
  return Reply::Json(out.Take());
}

Reply GetSegments(Call& call) {
  const Entries& entries = EntriesOf(InMemory(call), call.Param("ds"));
  if (entries.empty()) return Reply::Empty(404, "application/json");
  return Reply::Json(WriteEntries(entries, call.request.Has("full")));
}

absl::StatusOr<std::vector<Interval>> ReadIntervals(const std::string& body) {
  absl::StatusOr<JsonDocument> json = ParseJson(body);
  if (!json.ok()) return json.status();
  if (!json->IsArray()) {
    return absl::InvalidArgumentError(
        "Cannot deserialize value of type `java.util.ArrayList<org.joda.time.Interval>` from "
        "Object value (token `JsonToken.START_OBJECT`)");
  }
  std::vector<Interval> intervals;
  for (const JsonValue& entry : json->GetArray()) {
    absl::StatusOr<Interval> interval =
        ParseDruidInterval(entry.IsString() ? entry.GetString() : ToText(entry),
                           absl::StrCat("java.util.ArrayList[", intervals.size(), "]"));
    if (!interval.ok()) return interval.status();
    intervals.push_back(*interval);
  }
  return intervals;
}

// Straight from the store: what a task has just published is there.
Reply PostSegments(Call& call) {
  absl::StatusOr<std::vector<Interval>> intervals =
      call.request.body.empty() ? std::vector<Interval>() : ReadIntervals(call.request.body);
  if (!intervals.ok()) return Reply::BadRequest(intervals.status().message());
  if (intervals->empty()) {
    return Reply::ErrorPage(call.request, 500,
                            "org.apache.druid.java.util.common.IAE: null/empty intervals");
  }
  Snapshot fresh;
  if (call.stale == nullptr) fresh = TakeSnapshot(call.world.segments, call.Param("ds"));
  Entries matching;
  for (const Snapshot::Entry& entry :
       EntriesOf(call.stale != nullptr ? *call.stale : fresh, call.Param("ds"))) {
    const bool overlaps =
        std::any_of(intervals->begin(), intervals->end(),
                    [&](const Interval& interval) { return interval.Overlaps(entry.interval); });
    if (overlaps) matching.push_back(entry);
  }
  return Reply::Json(WriteEntries(matching, call.request.Has("full")));
}

Reply ListAllSegments(Call& call) {
  const auto [first, last] = call.request.query.equal_range("datasources");
  std::set<std::string> wanted;
  for (auto at = first; at != last; ++at) wanted.insert(at->second);
  const bool status = call.request.Has("includeOvershadowedStatus");
  JsonWriter out;
  out.Array();
  for (const auto& [datasource, entries] : InMemory(call).used) {
    if (!wanted.empty() && wanted.count(datasource) == 0) continue;
    for (const Snapshot::Entry& entry : entries) {
      if (!status) {
        out.Raw(entry.json);
        continue;
      }
      out.Raw(absl::StrCat(R"({"overshadowed":)", entry.overshadowed ? "true" : "false",
                           R"(,"replicationFactor":)", entry.overshadowed ? 0 : 2,
                           R"(,"numRows":null,"realtime":false,)", entry.json.substr(1)));
    }
  }
  out.End();
  return Reply::Json(out.Take());
}

Reply GetSegment(Call& call) {
  const std::string& id = call.Param("id");
  if (!IsSegmentId(call.Param("ds"), id)) {
    return Reply::ErrorPage(
        call.request, 500,
        absl::StrCat("org.apache.druid.error.DruidException: Could not parse segment ID[", id,
                     "] for datasource[", call.Param("ds"), "]"));
  }
  // Memory first: a segment that has just been marked unused is found there.
  for (const Snapshot::Entry& entry : EntriesOf(InMemory(call), call.Param("ds"))) {
    if (entry.id == id) return Reply::Json(entry.json);
  }
  const Segment* segment = call.world.segments.Find(call.Param("ds"), id);
  if (segment == nullptr || call.request.Get("includeUnused") != "true") {
    return Reply::Empty(404, "application/json");
  }
  return Reply::Json(ToJson(*segment));
}

std::string UnusedRow(const Segment& segment) {
  JsonWriter out;
  out.Object()
      .RawMember("dataSegment", ToJson(segment))
      .Member("createdDate", segment.created.ToString())
      .Member("usedStatusLastUpdatedDate", segment.status_updated.ToString())
      .Member("used", segment.used)
      .NullMember("schemaFingerprint")
      .NullMember("numRows")
      .NullMember("upgradedFromSegmentId")
      .End();
  return out.Take();
}

// In order of id, which is that of time; the other way round where asked.
void SortAndCut(std::vector<const Segment*>& segments, const Request& request, int64_t limit) {
  const bool down = absl::EqualsIgnoreCase(request.Get("sortOrder"), "DESC");
  if (down) std::reverse(segments.begin(), segments.end());
  const std::string last = request.Get("lastSegmentId");
  if (!last.empty()) {
    segments.erase(std::remove_if(segments.begin(), segments.end(),
                                  [&](const Segment* segment) {
                                    return down ? segment->id >= last : segment->id <= last;
                                  }),
                   segments.end());
  }
  if (limit > 0 && static_cast<int64_t>(segments.size()) > limit) segments.resize(limit);
}

Reply UnusedSegments(Call& call) {
  int64_t limit = 0;
  const std::string asked = call.request.Get("limit");
  if (!asked.empty() && !absl::SimpleAtoi(asked, &limit)) return Reply::Empty(404);
  if (limit < 0) {
    return Reply::DruidError(
        400, "invalidInput", "INVALID_INPUT",
        absl::StrCat("Invalid limit[", asked, "] specified. Limit must be > 0."));
  }
  const std::string order = absl::AsciiStrToUpper(call.request.Get("sortOrder"));
  if (!order.empty() && order != "ASC" && order != "DESC") {
    return Reply::DruidError(400, "invalidInput", "INVALID_INPUT",
                             absl::StrCat("Unexpected value[", order,
                                          "] for SortOrder. Possible values are: [ASC, DESC]"));
  }
  std::vector<const Segment*> segments = call.world.segments.Unused(call.Param("ds"));
  if (call.request.Has("interval")) {
    absl::StatusOr<Interval> interval =
        Interval::Parse(absl::StrReplaceAll(call.request.Get("interval"), {{"_", "/"}}));
    if (!interval.ok()) {
      return Reply::DruidError(
          400, "invalidInput", "INVALID_INPUT",
          absl::StrCat("Invalid interval[", call.request.Get("interval"), "]"));
    }
    segments.erase(std::remove_if(segments.begin(), segments.end(),
                                  [&](const Segment* segment) {
                                    return !interval->Contains(segment->interval);
                                  }),
                   segments.end());
  }
  SortAndCut(segments, call.request, limit);
  JsonWriter out;
  out.Array();
  for (const Segment* segment : segments) out.Raw(UnusedRow(*segment));
  out.End();
  return Reply::Json(out.Take());
}

}  // namespace

void AddMetadataRoutes(Router& router, const Traits& traits) {
  const std::string base = "/druid/coordinator/v1/metadata/";
  router.Add("GET", base + "datasources", kRead, ListDatasources);
  router.Add("GET", base + "segments", kRead, ListAllSegments);
  router.Add("GET", base + "datasources/{ds}/segments", kRead, GetSegments);
  router.Add("POST", base + "datasources/{ds}/segments", kRead, PostSegments);
  router.Add("GET", base + "datasources/{ds}/segments/{id}", kRead, GetSegment);
  if (traits.unused_segments_list) {
    router.Add("GET", base + "datasources/{ds}/unusedSegments", kRead, UnusedSegments);
  }
}

}  // namespace interlock::simulator
