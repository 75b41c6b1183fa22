#include "lib/backfill/told_json.h"

#include <optional>

#include "lib/backfill/json_members.h"

namespace interlock::backfill {
namespace {

// Writes the members of one object in a list; what is empty is left out.
class ObjectWriter {
 public:
  explicit ObjectWriter(JsonWriter& out) : out_(out), object_(rapidjson::kObjectType) {}

  // `name` must outlive the writer: a literal.
  ObjectWriter& Text(const char* name, const std::string& text) {
    if (!text.empty()) Put(name, out_.Copy(text));
    return *this;
  }
  ObjectWriter& Flag(const char* name, bool flag) {
    if (flag) Put(name, JsonValue(true));
    return *this;
  }
  ObjectWriter& At(const char* name, const std::optional<Instant>& instant) {
    if (instant) Put(name, JsonValue(instant->millis()));
    return *this;
  }
  void Put(const char* name, JsonValue value) {
    object_.AddMember(rapidjson::StringRef(name), value, out_.allocator());
  }
  JsonValue Take() { return std::move(object_); }

 private:
  JsonWriter& out_;
  JsonValue object_;
};

bool FlagIn(const JsonValue& object, const char* name) {
  const JsonValue* flag = MemberOf(object, name);
  return flag != nullptr && flag->IsTrue();
}

std::optional<Instant> InstantIn(const JsonValue& object, const char* name) {
  const auto millis = NumberIn(object, name);
  return millis ? std::optional(Instant::FromMillis(*millis)) : std::nullopt;
}

JsonValue ObjectOf(const Obstacle& obstacle, JsonWriter& out) {
  ObjectWriter one(out);
  one.Text("kind", obstacle.kind)
      .Text("reason", obstacle.reason)
      .Text("interval", obstacle.interval.ToString())
      .Text("message", obstacle.message)
      .Text("remedy", obstacle.remedy)
      .Flag("blocking", obstacle.blocking)
      .Flag("by_stream", obstacle.by_stream)
      .Text("holder", obstacle.holder)
      .Text("purpose", obstacle.purpose)
      .Text("reservation_id", obstacle.reservation_id)
      .Text("task_id", obstacle.task_id)
      .At("since", obstacle.since)
      .At("until", obstacle.until);
  if (obstacle.priority != 0) one.Put("priority", JsonValue(obstacle.priority));
  return one.Take();
}

Obstacle ObstacleIn(const JsonValue& one) {
  Obstacle obstacle;
  obstacle.kind = TextIn(one, "kind");
  obstacle.reason = TextIn(one, "reason");
  obstacle.interval = IntervalIn(one, "interval");
  obstacle.message = TextIn(one, "message");
  obstacle.remedy = TextIn(one, "remedy");
  obstacle.blocking = FlagIn(one, "blocking");
  obstacle.by_stream = FlagIn(one, "by_stream");
  obstacle.holder = TextIn(one, "holder");
  obstacle.purpose = TextIn(one, "purpose");
  obstacle.reservation_id = TextIn(one, "reservation_id");
  obstacle.task_id = TextIn(one, "task_id");
  obstacle.since = InstantIn(one, "since");
  obstacle.until = InstantIn(one, "until");
  obstacle.priority = NumberIn(one, "priority").value_or(0);
  return obstacle;
}

JsonValue ObjectOf(const verify::Finding& finding, JsonWriter& out) {
  ObjectWriter one(out);
  const auto name = verify::NameOf(finding.verdict);
  one.Text("verdict", std::string(name.data(), name.size()))
      .Text("reason", finding.reason)
      .Text("evidence", finding.evidence)
      .Text("next", finding.next);
  if (!finding.segments.empty()) one.Put("segments", out.List(finding.segments));
  one.Put("score", JsonValue(finding.score));
  return one.Take();
}

verify::Finding FindingIn(const JsonValue& one) {
  verify::Finding finding;
  finding.verdict = verify::VerdictOf(TextIn(one, "verdict"));
  finding.reason = TextIn(one, "reason");
  finding.evidence = TextIn(one, "evidence");
  finding.next = TextIn(one, "next");
  finding.segments = TextsIn(one, "segments");
  finding.score = DoubleIn(one, "score").value_or(1);
  return finding;
}

JsonValue ObjectOf(const verify::SeenSegment& segment, JsonWriter& out) {
  ObjectWriter one(out);
  return one.Text("id", segment.id).Text("interval", segment.interval.ToString()).Take();
}

constexpr char kAll[] = "all";

template <class T>
std::string ListToJson(const std::vector<T>& list) {
  JsonWriter out;
  JsonValue all(rapidjson::kArrayType);
  for (const T& one : list) all.PushBack(ObjectOf(one, out), out.allocator());
  out.Put(kAll, std::move(all));
  return out.ToString();
}

template <class T, class Read>
std::vector<T> ListFrom(const std::string& json, const Read& read) {
  std::vector<T> list;
  rapidjson::Document document;
  if (json.empty() || !ReadJsonObject(json, &document)) return list;
  ForEachIn(document, kAll, [&](const JsonValue& one) { list.push_back(read(one)); });
  return list;
}

}  // namespace

std::string ToJson(const std::vector<Obstacle>& obstacles) {
  return obstacles.empty() ? "" : ListToJson(obstacles);
}

std::vector<Obstacle> ObstaclesFrom(const std::string& json) {
  return ListFrom<Obstacle>(json, ObstacleIn);
}

std::string ToJson(const std::vector<verify::Finding>& findings) {
  return findings.empty() ? "" : ListToJson(findings);
}

std::vector<verify::Finding> FindingsFrom(const std::string& json) {
  return ListFrom<verify::Finding>(json, FindingIn);
}

std::string ToJson(const std::optional<std::vector<verify::SeenSegment>>& segments) {
  return segments ? ListToJson(*segments) : "";
}

std::optional<std::vector<verify::SeenSegment>> SeenSegmentsFrom(const std::string& json) {
  if (json.empty()) return std::nullopt;
  return ListFrom<verify::SeenSegment>(json, [](const JsonValue& one) {
    return verify::SeenSegment{TextIn(one, "id"), IntervalIn(one, "interval")};
  });
}

}  // namespace interlock::backfill
