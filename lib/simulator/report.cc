#include "lib/simulator/report.h"

#include "absl/strings/str_cat.h"

namespace interlock::simulator {
namespace {

constexpr char kNever[] = "1970-01-01T00:00:00.000Z";
constexpr int kWorkerPort = 8091;

void WriteRowStats(JsonWriter& out, int64_t rows, const Input& input) {
  out.Object()
      .Member("processed", rows - input.with_error)
      .Member("processedBytes", input.bytes)
      .Member("processedWithError", input.with_error)
      .Member("thrownAway", input.thrown_away)
      .Member("unparseable", input.unparseable)
      .End();
}

void WriteStats(JsonWriter& out, const Task& task, const Input& input) {
  const int64_t rows = static_cast<int64_t>(input.rows.size());
  if (task.ingest->parallel()) {
    out.Key("unparseableEvents").Object().Key("buildSegments").Array().End().End();
    out.Key("rowStats").Object().Key("totals").Object();
    WriteRowStats(out.Key("buildSegments"), rows, input);
    out.End().End();
    return;
  }
  // Read twice where the intervals or the partitions have to be found out first.
  const bool two_passes = task.ingest->intervals.empty() ||
                          (task.ingest->partitions.kind == PartitionsSpec::Kind::kHashed &&
                           !task.ingest->partitions.shards);
  out.Key("unparseableEvents").Object().End();
  out.Key("rowStats").Object();
  WriteRowStats(out.Key("determinePartitions"), two_passes ? rows : 0,
                two_passes ? input : Input());
  WriteRowStats(out.Key("buildSegments"), rows, input);
  out.End();
}

void WriteTaskContext(JsonWriter& out, const Task& task) {
  out.Key("taskContext")
      .Object()
      .Member("type", "taskContext")
      .Member("taskId", task.id)
      .RawMember("payload", task.context_json)
      .End();
}

void WriteLocation(JsonWriter& out, const Task& task) {
  const bool placed = task.stage == Task::Stage::kRunning || task.done();
  out.Key("location").Object();
  if (placed) {
    out.Member("host", "localhost").Member("port", kWorkerPort);
  } else {
    out.NullMember("host").Member("port", -1);
  }
  out.Member("tlsPort", -1).End();
}

const char* StatusCode(const Task& task) {
  return !task.done() ? "RUNNING" : task.success ? "SUCCESS" : "FAILED";
}

const char* RunnerCode(const Task& task, StatusPlace place) {
  switch (task.stage) {
    case Task::Stage::kWaiting:
      return "WAITING";
    case Task::Stage::kPending:
      return "PENDING";
    case Task::Stage::kRunning:
      return "RUNNING";
    case Task::Stage::kDone:
      if (place == StatusPlace::kList) return "NONE";
      return task.lingers_until ? "RUNNING" : "WAITING";
  }
  return "NONE";
}

JsonWriter& WriteError(JsonWriter& out, const Task& task) {
  return task.error.empty() ? out.NullMember("errorMsg") : out.Member("errorMsg", task.error);
}

}  // namespace

std::string IngestReport(const Task& task, const std::string& state, const std::string& error) {
  const Input& input = *task.input;
  JsonWriter out;
  out.Object().Key("ingestionStatsAndErrors").Object();
  out.Member("type", "ingestionStatsAndErrors").Member("taskId", task.id);
  out.Key("payload").Object().Member("ingestionState", state);
  WriteStats(out, task, input);
  error.empty() ? out.NullMember("errorMsg") : out.Member("errorMsg", error);
  out.Member("segmentAvailabilityConfirmed", task.confirmed);
  out.Member("segmentAvailabilityWaitTimeMs", int64_t{task.waited.count()});
  out.Key("recordsProcessed").Object().End();
  if (input.segments_read) out.Member("segmentsRead", *input.segments_read);
  // Tombstones are not counted.
  out.Member("segmentsPublished", static_cast<int64_t>(task.published.size())).End().End();
  WriteTaskContext(out, task);
  out.End();
  return out.Take();
}

std::string KillReport(const Task& task, const Traits& traits, const KillCounts& counts) {
  JsonWriter out;
  out.Object().Key("killUnusedSegments").Object();
  out.Member("type", "killUnusedSegments").Member("taskId", task.id);
  out.Key("payload")
      .Object()
      .Member("numSegmentsKilled", counts.killed)
      .Member("numBatchesProcessed", counts.batches);
  if (traits.kill_marks_unused) out.Member("numSegmentsMarkedAsUnused", counts.marked);
  out.End().End().End();
  return out.Take();
}

std::string EmptyReport(const Task& task) {
  return task.ingest ? IngestReport(task, "COMPLETED", "") : "";
}

std::string LiveReport(const Task& task) {
  JsonWriter out;
  out.Object();
  if (!task.ingest) {
    // With 200, as measured.
    out.Member("error", absl::StrCat("Can't find chatHandler for handler[", task.id, "]")).End();
    return out.Take();
  }
  out.Key("ingestionStatsAndErrors").Object();
  out.Member("type", "ingestionStatsAndErrors").Member("taskId", task.id);
  out.Key("payload").Object().Member(
      "ingestionState", task.awaits_until ? "SEGMENT_AVAILABILITY_WAIT" : "BUILD_SEGMENTS");
  out.Key("unparseableEvents").Object().End().Key("rowStats").Object();
  out.Key("movingAverages").Object().End().Key("totals").Object().End().End();
  out.NullMember("errorMsg").Member("segmentAvailabilityConfirmed", false);
  out.Member("segmentAvailabilityWaitTimeMs", 0).NullMember("recordsProcessed");
  out.End().End().End();
  return out.Take();
}

void WriteStatus(JsonWriter& out, const Task& task, StatusPlace place) {
  out.Object()
      .Member("id", task.id)
      .Member("groupId", task.group)
      .Member("type", task.type)
      .Member("createdTime", task.created.ToString())
      .Member("queueInsertionTime", kNever)
      .Member("statusCode", StatusCode(task))
      .Member("status", StatusCode(task))
      .Member("runnerStatusCode", RunnerCode(task, place))
      .Member("duration", task.duration);
  WriteLocation(out, task);
  out.Member("dataSource", task.datasource);
  WriteError(out, task);
  out.End();
}

// From the worker's side: a task that was shut down counts as running there until its
// thread has ended.
void WriteShortStatus(JsonWriter& out, const Task& task) {
  out.Object()
      .Member("id", task.id)
      .Member("status", task.lingers_until ? "RUNNING" : StatusCode(task))
      .Member("duration", task.duration);
  task.lingers_until ? out.NullMember("errorMsg") : WriteError(out, task);
  WriteLocation(out, task);
  out.End();
}

}  // namespace interlock::simulator
