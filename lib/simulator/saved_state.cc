#include "lib/simulator/saved_state.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/simulator/json.h"
#include "lib/simulator/task_parser.h"

namespace interlock::simulator {
namespace {

void SaveSegment(JsonWriter& out, const Segment& segment) {
  out.Object()
      .Member("datasource", segment.datasource)
      .Member("interval", segment.interval.ToString())
      .Member("version", segment.version)
      .Member("partition", segment.partition)
      .Member("core", segment.core_partitions)
      .Member("tombstone", segment.tombstone)
      .RawMember("shard", segment.shard_json)
      .RawMember("load_spec", segment.load_spec_json)
      .Member("file", segment.file)
      .Member("dimensions", segment.dimensions)
      .Member("metrics", segment.metrics)
      .Member("size", segment.size)
      .Member("used", segment.used)
      .Member("created", segment.created.ToString())
      .Member("updated", segment.status_updated.ToString())
      .End();
}

void SaveTask(JsonWriter& out, const Task& task) {
  out.Object()
      .Member("type", task.type)
      .Member("id", task.id)
      .Member("group", task.group)
      .Member("datasource", task.datasource)
      .RawMember("payload", task.payload_json)
      .RawMember("context", task.context_json)
      .Member("created", task.created.ToString())
      .Member("done", task.done())
      .Member("success", task.success)
      .Member("error", task.error)
      .Member("duration", task.duration)
      .Member("report", task.report_json)
      .End();
}

absl::StatusOr<Segment> ReadSegment(const JsonValue& json, const World& world) {
  Segment segment;
  segment.datasource = FindString(json, "datasource");
  segment.version = FindString(json, "version");
  segment.partition = static_cast<int>(FindInt(json, "partition").value_or(0));
  segment.core_partitions = static_cast<int>(FindInt(json, "core").value_or(0));
  segment.tombstone = FindBool(json, "tombstone", false);
  segment.file = FindString(json, "file");
  segment.dimensions = FindString(json, "dimensions");
  segment.metrics = FindString(json, "metrics");
  segment.size = FindInt(json, "size").value_or(0);
  segment.used = FindBool(json, "used", true);
  const JsonValue* shard = Find(json, "shard");
  const JsonValue* load_spec = Find(json, "load_spec");
  absl::StatusOr<Interval> interval = Interval::Parse(FindString(json, "interval"));
  absl::StatusOr<Instant> created = Instant::Parse(FindString(json, "created"));
  absl::StatusOr<Instant> updated = Instant::Parse(FindString(json, "updated"));
  if (!interval.ok() || !created.ok() || !updated.ok() || shard == nullptr ||
      load_spec == nullptr) {
    return absl::InvalidArgumentError("a saved segment is not whole");
  }
  segment.interval = *interval;
  segment.created = *created;
  segment.status_updated = *updated;
  segment.shard_json = ToText(*shard);
  segment.load_spec_json = ToText(*load_spec);
  segment.id = SegmentId(segment.datasource, segment.interval, segment.version, segment.partition);
  absl::StatusOr<RowSet> rows = world.deep_storage.Pull(segment);
  if (!rows.ok()) return rows.status();
  segment.rows = std::make_shared<const RowSet>(*std::move(rows));
  return segment;
}

absl::StatusOr<Task> ReadTask(const JsonValue& json, const World& world) {
  const JsonValue* payload = Find(json, "payload");
  absl::StatusOr<Instant> created = Instant::Parse(FindString(json, "created"));
  if (payload == nullptr || !created.ok()) {
    return absl::InvalidArgumentError("a saved task is not whole");
  }
  Task task;
  if (!FindBool(json, "done", false)) {
    absl::StatusOr<Task> parsed = ParseTask(*payload, world.traits, *created, 0);
    if (!parsed.ok()) return parsed.status();
    task = *std::move(parsed);
  } else {
    task.stage = Task::Stage::kDone;
    task.context_json = ToText(*Find(json, "context"));
  }
  task.type = FindString(json, "type");
  task.id = FindString(json, "id");
  task.group = FindString(json, "group");
  task.datasource = FindString(json, "datasource");
  task.payload_json = ToText(*payload);
  task.created = *created;
  task.success = FindBool(json, "success", false);
  task.error = FindString(json, "error");
  task.duration = FindInt(json, "duration").value_or(-1);
  task.report_json = FindString(json, "report");
  return task;
}

}  // namespace

std::string SaveState(const World& world) {
  JsonWriter out;
  out.Object().Key("segments").Array();
  for (const std::string& datasource : world.segments.Datasources()) {
    for (const Segment* segment : world.segments.Used(datasource)) SaveSegment(out, *segment);
    for (const Segment* segment : world.segments.Unused(datasource)) SaveSegment(out, *segment);
  }
  out.End().Key("tasks").Array();
  for (const Task* task : world.tasks.tasks()) {
    // A sub-task that has not ended is started again by its parent; a stream's task by its
    // supervisor, which is not kept.
    const bool made_again = task->subtask || task->type == "index_kafka";
    if (!made_again || task->done()) SaveTask(out, *task);
  }
  out.End().RawMember("rules", world.rules.AllToJson()).End();
  return out.Take();
}

absl::Status RestoreState(absl::string_view saved, World& world) {
  absl::StatusOr<JsonDocument> json = ParseJson(saved);
  if (!json.ok()) return json.status();
  const JsonValue* segments = Find(*json, "segments");
  const JsonValue* tasks = Find(*json, "tasks");
  const JsonValue* rules = Find(*json, "rules");
  if (segments == nullptr || tasks == nullptr || rules == nullptr || !segments->IsArray() ||
      !tasks->IsArray() || !rules->IsObject()) {
    return absl::InvalidArgumentError("no saved state of a simulator");
  }
  for (const auto& member : rules->GetObject()) {
    absl::Status set = world.rules.Set(member.name.GetString(), ToText(member.value));
    if (!set.ok()) return set;
  }
  for (const JsonValue& entry : segments->GetArray()) {
    absl::StatusOr<Segment> segment = ReadSegment(entry, world);
    if (!segment.ok()) return segment.status();
    world.segments.Insert(*std::move(segment));
  }
  for (const std::string& datasource : world.segments.Datasources()) {
    world.SegmentsChanged(datasource);
  }
  for (const JsonValue& entry : tasks->GetArray()) {
    absl::StatusOr<Task> task = ReadTask(entry, world);
    if (!task.ok()) return task.status();
    world.tasks.Submit(*std::move(task));
  }
  return absl::OkStatus();
}

absl::Status WriteWholeFile(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || std::rename(beside.c_str(), path.c_str()) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

}  // namespace interlock::simulator
