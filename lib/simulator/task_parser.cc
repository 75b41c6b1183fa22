#include "lib/simulator/task_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/simulator/spec_errors.h"
#include "lib/simulator/spec_fields.h"
#include "lib/time/interval_set.h"

namespace interlock::simulator {
namespace {

constexpr char kAnyTaskClass[] = "org.apache.druid.indexing.common.task.Task";
constexpr char kKnownTasks[] =
    "archive, compact, index, index_hadoop, index_parallel, index_sub, kill, move, noop, "
    "partial_dimension_cardinality, partial_dimension_distribution, partial_index_generate, "
    "partial_index_generic_merge, partial_range_index_generate, restore, single_phase_sub_task";
constexpr int64_t kBatchPriority = 50;
constexpr int64_t kDefaultNoopMillis = 2500;

// Ours first, in the order given; then what Druid adds.
std::string FillContext(const JsonValue& json) {
  JsonWriter out;
  out.Object();
  const JsonValue* context = Find(json, "context");
  if (context != nullptr && context->IsObject()) {
    for (const auto& member : context->GetObject()) {
      out.RawMember(member.name.GetString(), ToText(member.value));
    }
  }
  for (const char* added : {"forceTimeChunkLock", "useLineageBasedSegmentAllocation"}) {
    if (context == nullptr || !context->IsObject() || !context->HasMember(added)) {
      out.Member(added, true);
    }
  }
  out.End();
  return out.Take();
}

absl::Status CheckContext(const JsonValue& json) {
  const JsonValue* context = Find(json, "context");
  if (context == nullptr) return absl::OkStatus();
  if (!context->IsObject()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Cannot construct instance of `java.util.LinkedHashMap` (although at least one Creator "
        "exists): no String-argument constructor/factory method to deserialize from String value "
        "('",
        context->IsString() ? context->GetString() : ToText(*context), "')"));
  }
  const JsonValue* priority = Find(*context, "priority");
  if (priority != nullptr && !priority->IsInt()) return NotSimulated("such a priority");
  if (FindBool(*context, "useConcurrentLocks", false) ||
      FindBool(*context, "useSharedLock", false) ||
      FindString(*context, "taskLockType", "EXCLUSIVE") != "EXCLUSIVE") {
    return NotSimulated("locks other than EXCLUSIVE ones");
  }
  if (!FindBool(*context, "forceTimeChunkLock", true)) return NotSimulated("segment locks");
  return absl::OkStatus();
}

void WriteResource(JsonWriter& out, const Task& task) {
  out.Member("groupId", task.group);
  out.Key("resource")
      .Object()
      .Member("availabilityGroup", task.id)
      .Member("requiredCapacity", 1)
      .End();
}

absl::Status ReadIngest(const JsonValue& json, Task& task) {
  absl::StatusOr<IngestSpec> spec = ParseIngestSpec(Find(json, "spec"));
  if (!spec.ok()) return spec.status();
  task.datasource = spec->datasource;
  task.priority = FindInt(json, "context/priority").value_or(kBatchPriority);
  task.lock_intervals = WidenedIntervals(*spec);
  task.ingest = *std::move(spec);
  return absl::OkStatus();
}

// What came, with what Druid fills in beside it.
std::string IngestPayload(const JsonValue& json, const Task& task) {
  JsonWriter out;
  out.Object().Member("type", task.type).Member("id", task.id);
  WriteResource(out, task);
  out.RawMember("spec", ToText(*Find(json, "spec")))
      .RawMember("context", task.context_json)
      .Member("dataSource", task.datasource)
      .End();
  return out.Take();
}

absl::Status ReadBounds(const JsonValue& json, const Traits& traits, KillSpec& kill) {
  absl::StatusOr<std::optional<int64_t>> batch = IntField(json, "batchSize");
  if (!batch.ok()) return batch.status();
  kill.batch_size = batch->value_or(kill.batch_size);
  absl::StatusOr<std::optional<int64_t>> limit = IntField(json, "limit");
  if (!limit.ok()) return limit.status();
  kill.limit = *limit;
  for (const auto& [name, value] :
       {std::pair("batchSize", std::optional(kill.batch_size)), std::pair("limit", kill.limit)}) {
    if (!value || *value > 0) continue;
    return CannotConstruct(kKillClass,
                           absl::StrCat(name, "[", *value, "] must be a positive integer."));
  }
  if (traits.kill_marks_unused) kill.mark_as_unused = FindBool(json, "markAsUnused", false);
  if (kill.mark_as_unused && kill.limit) {
    return CannotConstruct(kKillClass, "Limit cannot be provided when markAsUnused is enabled.");
  }
  if (!traits.kill_bounds) return absl::OkStatus();
  const JsonValue* versions = Find(json, "versions");
  if (versions != nullptr && !versions->IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Cannot construct instance of `java.util.ArrayList` (although at least one Creator "
        "exists): no String-argument constructor/factory method to deserialize from String value "
        "('",
        FindString(json, "versions"), "')"));
  }
  if (versions != nullptr) kill.versions = FindStrings(json, "versions");
  const std::string updated = FindString(json, "maxUsedStatusLastUpdatedTime");
  if (updated.empty()) return absl::OkStatus();
  absl::StatusOr<Instant> instant = Instant::Parse(updated);
  if (!instant.ok()) {
    return BadInstant(updated, absl::StrCat(kKillClass, "[\"maxUsedStatusLastUpdatedTime\"]"));
  }
  kill.max_status_updated = *instant;
  return absl::OkStatus();
}

absl::Status ReadKill(const JsonValue& json, const Traits& traits, Task& task) {
  task.datasource = FindString(json, "dataSource");
  if (task.datasource.empty()) return CannotConstruct(kKillClass, "dataSource");
  const std::string interval = FindString(json, "interval");
  if (interval.empty()) return CannotConstruct(kKillClass, "interval");
  absl::StatusOr<Interval> parsed =
      ParseDruidInterval(interval, absl::StrCat(kKillClass, "[\"interval\"]"));
  if (!parsed.ok()) return parsed.status();
  KillSpec kill;
  kill.interval = *parsed;
  absl::Status bounds = ReadBounds(json, traits, kill);
  if (!bounds.ok()) return bounds;
  task.priority = FindInt(json, "context/priority").value_or(0);
  task.lock_intervals = {kill.interval};
  task.kill = std::move(kill);
  return absl::OkStatus();
}

// Only what this version understood: unknown fields are dropped without a word.
std::string KillPayload(const Task& task, const Traits& traits) {
  const KillSpec& kill = *task.kill;
  JsonWriter out;
  out.Object().Member("type", "kill").Member("id", task.id).Member("dataSource", task.datasource);
  out.Member("interval", kill.interval.ToString());
  if (traits.kill_bounds && kill.versions) {
    out.Key("versions").Array();
    for (const std::string& version : *kill.versions) out.String(version);
    out.End();
  } else if (traits.kill_bounds) {
    out.NullMember("versions");
  }
  out.RawMember("context", task.context_json);
  if (kill.mark_as_unused) out.Member("markAsUnused", true);
  out.Member("batchSize", kill.batch_size);
  kill.limit ? out.Member("limit", *kill.limit) : out.NullMember("limit");
  if (traits.kill_bounds) {
    const auto& updated = kill.max_status_updated;
    const char* name = "maxUsedStatusLastUpdatedTime";
    updated ? out.Member(name, updated->ToString()) : out.NullMember(name);
  }
  WriteResource(out, task);
  out.End();
  return out.Take();
}

std::string NoopPayload(const Task& task) {
  JsonWriter out;
  out.Object().Member("type", "noop").Member("id", task.id).Member("groupId", task.group);
  out.Member("dataSource", task.datasource).Member("runTime", int64_t{task.noop_runs->count()});
  out.RawMember("context", task.context_json);
  out.Key("resource").Object().Member("availabilityGroup", task.id).Member("requiredCapacity", 1);
  out.End().End();
  return out.Take();
}

std::string MakeId(const Task& task, Instant now, int64_t number) {
  const std::string at = now.ToString();
  if (task.noop_runs) return absl::StrCat("noop_", at, "_", IdSuffix(number));
  if (!task.kill) {
    return absl::StrCat(task.type, "_", task.datasource, "_", IdSuffix(number), "_", at);
  }
  const Interval& interval = task.kill->interval;
  return absl::StrCat("kill_", task.datasource, "_", IdSuffix(number), "_",
                      interval.start().ToString(), "_", interval.end().ToString(), "_", at);
}

absl::Status ReadByType(const JsonValue& json, const Traits& traits, Task& task) {
  if (task.type == "index_parallel") return ReadIngest(json, task);
  if (task.type == "kill") return ReadKill(json, traits, task);
  if (task.type == "noop") {
    task.datasource = FindString(json, "dataSource", "none");
    task.noop_runs = Moment(FindInt(json, "runTime").value_or(kDefaultNoopMillis));
    return absl::OkStatus();
  }
  if (task.type == "compact" || task.type == "index") {
    return NotSimulated(absl::StrCat("tasks of type ", task.type));
  }
  return UnknownType(task.type, kAnyTaskClass, kKnownTasks, "");
}

}  // namespace

absl::StatusOr<Task> ParseTask(const JsonValue& json, const Traits& traits, Instant now,
                               int64_t number) {
  if (json.IsArray()) {
    return absl::InvalidArgumentError(
        "Unexpected token (END_ARRAY), expected VALUE_STRING: need JSON String that contains type "
        "id (for subtype of org.apache.druid.indexing.common.task.Task)");
  }
  Task task;
  if (json.IsObject()) task.type = FindString(json, "type");
  if (task.type.empty()) {
    return absl::InvalidArgumentError(
        "Could not resolve subtype of [simple type, class "
        "org.apache.druid.indexing.common.task.Task]: missing type id property 'type'");
  }
  task.created = now;
  for (absl::Status read : {CheckContext(json), ReadByType(json, traits, task)}) {
    if (!read.ok()) return read;
  }
  const JsonValue* id = Find(json, "id");
  task.id = id == nullptr    ? MakeId(task, now, number)
            : id->IsString() ? std::string(id->GetString(), id->GetStringLength())
                             : ToText(*id);
  absl::Status valid = CheckId("task ID", task.id, task.kill ? kKillClass : kTaskClass);
  if (!valid.ok()) return valid;
  task.group = FindString(json, "groupId", task.id);
  task.context_json = FillContext(json);
  task.payload_json = task.kill        ? KillPayload(task, traits)
                      : task.noop_runs ? NoopPayload(task)
                                       : IngestPayload(json, task);
  return task;
}

std::string IdSuffix(int64_t number) {
  uint64_t mixed = static_cast<uint64_t>(number + 1) * 0x9E3779B97F4A7C15u;
  std::string suffix;
  for (int i = 0; i < 8; ++i, mixed >>= 4) suffix += static_cast<char>('a' + (mixed >> 32) % 16);
  return suffix;
}

std::vector<Interval> WidenedIntervals(const IngestSpec& spec) {
  std::vector<Interval> widened;
  for (const Interval& interval : spec.intervals) {
    if (interval.empty()) continue;
    widened.push_back(
        spec.segment_granularity->is_all() ? interval : spec.segment_granularity->Widen(interval));
  }
  return Condense(std::move(widened));
}

}  // namespace interlock::simulator
