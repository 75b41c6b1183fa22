#include "lib/druid/supervisor_json.h"

#include <openssl/sha.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/json.h"
#include "lib/time/period.h"
#include "lib/time/reason.h"

namespace interlock::druid {
namespace {

constexpr size_t kMostErrors = 5;
constexpr size_t kDigestBytes = 16;

// A period with months or years in it has no length; Druid takes none of those here.
std::optional<absl::Duration> PeriodMember(const rapidjson::Value& value, const char* name) {
  const absl::StatusOr<Period> period = Period::Parse(TextMember(value, name));
  if (!period.ok()) return std::nullopt;
  const std::optional<int64_t> millis = period->FixedMillis();
  return millis ? std::optional<absl::Duration>(absl::Milliseconds(*millis)) : std::nullopt;
}

std::optional<Instant> InstantMember(const rapidjson::Value& value, const char* name) {
  const absl::StatusOr<Instant> instant = Instant::Parse(TextMember(value, name));
  return instant.ok() ? std::optional<Instant>(*instant) : std::nullopt;
}

// A part of the spec, which stands under "spec", at the top, or (from Druid) in both.
const rapidjson::Value* Part(const rapidjson::Value& spec, const char* name) {
  const rapidjson::Value* inner = Member(spec, "spec");
  const rapidjson::Value* part = inner != nullptr ? Member(*inner, name) : nullptr;
  return part != nullptr ? part : Member(spec, name);
}

bool ConcurrentLocks(const rapidjson::Value& with_context) {
  const rapidjson::Value* context = Member(with_context, "context");
  return context != nullptr && BoolMember(*context, "useConcurrentLocks").value_or(false);
}

std::string FirstText(const rapidjson::Value& value, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string text = TextMember(value, name);
    if (!text.empty()) return text;
  }
  return "";
}

void ReadIoConfig(const rapidjson::Value& io, Supervisor* supervisor) {
  supervisor->stream = FirstText(io, {"topic", "stream", "topicPattern", "uri"});
  supervisor->bounds.late_period = PeriodMember(io, "lateMessageRejectionPeriod");
  supervisor->bounds.late_start = InstantMember(io, "lateMessageRejectionStartDateTime");
  supervisor->bounds.early_period = PeriodMember(io, "earlyMessageRejectionPeriod");
  supervisor->task_duration = PeriodMember(io, "taskDuration");
  supervisor->skip_offset = PeriodMember(io, "skipOffsetFromLatest");
}

// What is compared to notice another spec: not the state, and not what stands twice.
std::string DigestOf(const rapidjson::Value& spec) {
  std::string text;
  for (const char* name : {"dataSchema", "ioConfig", "tuningConfig"}) {
    const rapidjson::Value* part = Part(spec, name);
    if (part != nullptr) absl::StrAppend(&text, WriteJson(*part));
    text.push_back('\n');
  }
  const rapidjson::Value* context = Member(spec, "context");
  if (context != nullptr) absl::StrAppend(&text, WriteJson(*context));
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), kDigestBytes));
}

void Add(const rapidjson::Value& counters, StreamCounts* counts) {
  counts->processed += IntMember(counters, "processed").value_or(0);
  counts->processed_with_error += IntMember(counters, "processedWithError").value_or(0);
  counts->thrown_away += IntMember(counters, "thrownAway").value_or(0);
  counts->unparseable += IntMember(counters, "unparseable").value_or(0);
}

std::string OneError(const rapidjson::Value& error) {
  const std::string message = TextMember(error, "message");
  const std::string exception = TextMember(error, "exceptionClass");
  const absl::string_view joint = message.empty() || exception.empty() ? "" : ": ";
  return absl::StrCat(exception, joint, message);
}

std::map<std::string, std::string> Offsets(const rapidjson::Value& io) {
  std::map<std::string, std::string> offsets;
  const rapidjson::Value* numbers = Member(io, "startSequenceNumbers");
  if (numbers == nullptr) numbers = Member(io, "startPartitions");
  const rapidjson::Value* map =
      numbers != nullptr ? Member(*numbers, "partitionSequenceNumberMap") : nullptr;
  if (map == nullptr || !map->IsObject()) return offsets;
  for (const auto& member : map->GetObject()) {
    offsets[member.name.GetString()] =
        member.value.IsString() ? member.value.GetString() : WriteJson(member.value);
  }
  return offsets;
}

}  // namespace

Supervisor ReadSupervisorSpec(const rapidjson::Value& spec) {
  Supervisor supervisor;
  supervisor.type = TextMember(spec, "type");
  const rapidjson::Value* schema = Part(spec, "dataSchema");
  if (schema != nullptr) supervisor.datasource = TextMember(*schema, "dataSource");
  const rapidjson::Value* io = Part(spec, "ioConfig");
  if (io != nullptr) ReadIoConfig(*io, &supervisor);
  const rapidjson::Value* tuning = Part(spec, "tuningConfig");
  if (tuning != nullptr && !supervisor.skip_offset) {
    supervisor.skip_offset = PeriodMember(*tuning, "skipOffsetFromLatest");
  }
  supervisor.suspended = BoolMember(spec, "suspended").value_or(false);
  supervisor.concurrent_locks = ConcurrentLocks(spec);
  supervisor.id = TextMember(spec, "id");
  if (supervisor.id.empty()) supervisor.id = supervisor.datasource;
  supervisor.digest = DigestOf(spec);
  return supervisor;
}

Supervisor ReadSupervisor(const rapidjson::Value& element) {
  const rapidjson::Value* spec = Member(element, "spec");
  Supervisor supervisor = spec != nullptr ? ReadSupervisorSpec(*spec) : Supervisor();
  supervisor.id = TextMember(element, "id");
  supervisor.state = TextMember(element, "state");
  supervisor.detailed_state = TextMember(element, "detailedState");
  supervisor.healthy = BoolMember(element, "healthy").value_or(true);
  // The element's own says false of a suspended one (33.0.0); its spec tells.
  if (spec == nullptr) supervisor.suspended = BoolMember(element, "suspended").value_or(false);
  return supervisor;
}

SupervisorHealth ReadSupervisorHealth(const rapidjson::Value& reply) {
  SupervisorHealth health;
  const rapidjson::Value* payload = Member(reply, "payload");
  if (payload == nullptr) return health;
  health.state = TextMember(*payload, "state");
  health.detailed_state = TextMember(*payload, "detailedState");
  health.suspended = BoolMember(*payload, "suspended").value_or(false);
  health.healthy = BoolMember(*payload, "healthy").value_or(true);
  // Absent offsets: nothing was fetched yet, and the 0 beside them says nothing.
  const rapidjson::Value* offsets = Member(*payload, "latestOffsets");
  if (offsets != nullptr) health.lag = IntMember(*payload, "aggregateLag");
  const rapidjson::Value* errors = Member(*payload, "recentErrors");
  if (errors == nullptr || !errors->IsArray()) return health;
  for (const auto& error : errors->GetArray()) health.recent_errors.push_back(OneError(error));
  std::reverse(health.recent_errors.begin(), health.recent_errors.end());
  if (health.recent_errors.size() > kMostErrors) health.recent_errors.resize(kMostErrors);
  return health;
}

std::map<std::string, StreamCounts> ReadStreamCounts(const rapidjson::Value& reply) {
  std::map<std::string, StreamCounts> counts;
  if (!reply.IsObject()) return counts;
  for (const auto& group : reply.GetObject()) {
    if (!group.value.IsObject()) continue;
    for (const auto& task : group.value.GetObject()) {
      const rapidjson::Value* totals = Member(task.value, "totals");
      const rapidjson::Value* build =
          totals != nullptr ? Member(*totals, "buildSegments") : nullptr;
      if (build != nullptr) Add(*build, &counts[task.name.GetString()]);
    }
  }
  return counts;
}

absl::StatusOr<Supervisor> ParseSupervisorSpec(absl::string_view json) {
  rapidjson::Document document;
  std::string why;
  if (!ParseJson(json, &document, &why)) {
    return WithReason(absl::InvalidArgumentError(absl::StrCat("supervisor_spec is ", why)),
                      "SPEC_INVALID");
  }
  Supervisor supervisor = ReadSupervisorSpec(document);
  const auto lacks = [](const char* what) {
    return WithReason(absl::InvalidArgumentError(absl::StrCat("supervisor_spec has no ", what)),
                      "SPEC_INVALID");
  };
  if (supervisor.datasource.empty()) return lacks("/spec/dataSchema/dataSource");
  if (!supervisor.streams()) return lacks("/spec/ioConfig/topic (or stream)");
  if (supervisor.bounds.late_period && supervisor.bounds.late_start) {
    return WithReason(
        absl::InvalidArgumentError("supervisor_spec has both lateMessageRejectionPeriod and "
                                   "lateMessageRejectionStartDateTime, which Druid refuses; "
                                   "leave one of them"),
        "SPEC_INVALID");
  }
  return supervisor;
}

bool IsStreamTaskType(absl::string_view type) {
  return type == "index_kafka" || type == "index_kinesis" || type == "index_rabbit" ||
         type == "index_realtime";
}

absl::StatusOr<StreamTask> ReadStreamTask(const std::string& id, const std::string& payload_json) {
  rapidjson::Document payload;
  std::string why;
  if (!ParseJson(payload_json, &payload, &why)) return absl::InvalidArgumentError(why);
  const rapidjson::Value* io = Part(payload, "ioConfig");
  if (io == nullptr) return absl::InvalidArgumentError("a task without an ioConfig");
  StreamTask task;
  task.id = id;
  task.group_id = TextMember(payload, "groupId");
  task.datasource = TextMember(payload, "dataSource");
  task.minimum_message_time = InstantMember(*io, "minimumMessageTime");
  task.maximum_message_time = InstantMember(*io, "maximumMessageTime");
  const rapidjson::Value* from = Member(*io, "startSequenceNumbers");
  if (from != nullptr) task.stream = FirstText(*from, {"stream", "topic"});
  task.start_offsets = Offsets(*io);
  task.concurrent_locks = ConcurrentLocks(payload);
  return task;
}

}  // namespace interlock::druid
