#include "lib/druid/task_json.h"

#include <optional>

#include "lib/druid/json.h"

namespace interlock::druid {
namespace {

std::optional<Instant> InstantMember(const rapidjson::Value& value, const char* name) {
  const absl::StatusOr<Instant> instant = Instant::Parse(TextMember(value, name));
  return instant.ok() ? std::optional<Instant>(*instant) : std::nullopt;
}

// rowStats.buildSegments of a finished task; under "totals" in live reports.
const rapidjson::Value* BuildStats(const rapidjson::Value& payload) {
  const rapidjson::Value* stats = Member(payload, "rowStats");
  if (stats == nullptr) return nullptr;
  const rapidjson::Value* totals = Member(*stats, "totals");
  return Member(totals != nullptr ? *totals : *stats, "buildSegments");
}

void ReadIngestion(const rapidjson::Value& payload, TaskReport* report) {
  const rapidjson::Value* stats = BuildStats(payload);
  if (stats != nullptr) {
    report->has_row_stats = true;
    report->processed = IntMember(*stats, "processed").value_or(0);
    report->processed_with_error = IntMember(*stats, "processedWithError").value_or(0);
    report->thrown_away = IntMember(*stats, "thrownAway").value_or(0);
    report->unparseable = IntMember(*stats, "unparseable").value_or(0);
  }
  report->segments_published = IntMember(payload, "segmentsPublished");
  report->error = TextMember(payload, "errorMsg");
}

// counters: stage → worker → counter; the segment generator's says what was written.
void ReadQuery(const rapidjson::Value& payload, TaskReport* report) {
  const rapidjson::Value* counters = Member(payload, "counters");
  if (counters == nullptr || !counters->IsObject()) return;
  for (const auto& stage : counters->GetObject()) {
    if (!stage.value.IsObject()) continue;
    for (const auto& worker : stage.value.GetObject()) {
      const rapidjson::Value* progress = Member(worker.value, "segmentGenerationProgress");
      if (progress == nullptr) continue;
      report->has_row_stats = true;
      report->processed += IntMember(*progress, "rowsPushed").value_or(0);
    }
  }
  const rapidjson::Value* status = Member(payload, "status");
  const rapidjson::Value* failed = status != nullptr ? Member(*status, "errorReport") : nullptr;
  const rapidjson::Value* error = failed != nullptr ? Member(*failed, "error") : nullptr;
  if (error != nullptr) report->error = TextMember(*error, "errorMessage");
}

}  // namespace

TaskState ReadTaskState(const rapidjson::Value& task) {
  const std::string code = TextMember(task, "statusCode");
  const std::string status = TextMember(task, "status");
  if (!code.empty() && !status.empty() && code != status) return TaskState::kUnknown;
  const std::string& word = code.empty() ? status : code;
  if (word == "RUNNING") return TaskState::kRunning;
  if (word == "SUCCESS") return TaskState::kSuccess;
  if (word == "FAILED") return TaskState::kFailed;
  return TaskState::kUnknown;
}

TaskStatus ReadTaskStatus(const rapidjson::Value& task) {
  TaskStatus status;
  status.id = TextMember(task, "id");
  status.group_id = TextMember(task, "groupId");
  status.type = TextMember(task, "type");
  status.datasource = TextMember(task, "dataSource");
  status.state = ReadTaskState(task);
  status.runner_state = TextMember(task, "runnerStatusCode");
  status.created = InstantMember(task, "createdTime");
  status.duration_ms = IntMember(task, "duration").value_or(-1);
  status.error = TextMember(task, "errorMsg");
  return status;
}

TaskReport ReadTaskReport(const rapidjson::Value& reports) {
  TaskReport report;
  const rapidjson::Value* query = Member(reports, "multiStageQuery");
  const rapidjson::Value* stages = query != nullptr ? Member(*query, "payload") : nullptr;
  if (stages != nullptr) ReadQuery(*stages, &report);
  const rapidjson::Value* ingestion = Member(reports, "ingestionStatsAndErrors");
  const rapidjson::Value* payload = ingestion != nullptr ? Member(*ingestion, "payload") : nullptr;
  if (payload != nullptr) ReadIngestion(*payload, &report);
  const rapidjson::Value* kill = Member(reports, "killUnusedSegments");
  const rapidjson::Value* killed = kill != nullptr ? Member(*kill, "payload") : nullptr;
  if (killed != nullptr) report.segments_killed = IntMember(*killed, "numSegmentsKilled");
  return report;
}

TaskPayload ReadTaskPayload(const std::string& id, const rapidjson::Value& payload) {
  TaskPayload task;
  task.id = id;
  task.type = TextMember(payload, "type");
  task.datasource = TextMember(payload, "dataSource");
  const rapidjson::Value* spec = Member(payload, "spec");
  const rapidjson::Value* schema = spec != nullptr ? Member(*spec, "dataSchema") : nullptr;
  if (task.datasource.empty() && schema != nullptr) {
    task.datasource = TextMember(*schema, "dataSource");
  }
  const rapidjson::Value* context = Member(payload, "context");
  if (context != nullptr && context->IsObject()) {
    for (const auto& member : context->GetObject()) {
      task.context[member.name.GetString()] = WriteJson(member.value);
    }
  }
  // A query's own context is where what its caller gave it is kept.
  const rapidjson::Value* query_context = Member(payload, "sqlQueryContext");
  if (query_context != nullptr && query_context->IsObject()) {
    for (const auto& member : query_context->GetObject()) {
      task.context.emplace(member.name.GetString(), WriteJson(member.value));
    }
  }
  task.json = WriteJson(payload);
  return task;
}

}  // namespace interlock::druid
