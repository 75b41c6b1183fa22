#include "lib/simulator/streams.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/simulator/input_reader.h"
#include "lib/simulator/publisher.h"
#include "lib/simulator/task_parser.h"
#include "lib/simulator/world.h"
#include "lib/time/period.h"

namespace interlock::simulator {
namespace {

constexpr int64_t kPriority = 75;
// Between a change of the supervisor and what its tasks do about it, and between two looks
// whether their segments are served; measured: about a second each, at short settings.
constexpr Moment kDelay{1'000};

std::string GroupOf(const SimulatedSupervisor& supervisor) {
  return absl::StrCat("index_kafka_", supervisor.id);
}

absl::Status ReadBounds(const JsonValue& spec, SimulatedSupervisor& supervisor) {
  const std::string period = FindString(spec, "spec/ioConfig/lateMessageRejectionPeriod");
  const std::string start = FindString(spec, "spec/ioConfig/lateMessageRejectionStartDateTime");
  if (!period.empty() && !start.empty()) {
    return absl::InvalidArgumentError(
        "Cannot construct instance of `org.apache.druid.indexing.kafka.supervisor."
        "KafkaSupervisorIOConfig`, problem: SeekableStreamSupervisorIOConfig does not support both "
        "properties lateMessageRejectionStartDateTime and lateMessageRejectionPeriod.");
  }
  if (!period.empty()) {
    const absl::StatusOr<Period> parsed = Period::Parse(period);
    if (!parsed.ok() || !parsed->FixedMillis()) {
      return absl::InvalidArgumentError(absl::StrCat("Invalid format: \"", period, "\""));
    }
    supervisor.late_period = absl::Milliseconds(*parsed->FixedMillis());
  }
  if (!start.empty()) {
    const absl::StatusOr<Instant> parsed = Instant::Parse(start);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("Invalid format: \"", start, "\""));
    }
    supervisor.late_start = *parsed;
  }
  return absl::OkStatus();
}

// As Druid gives it back: what it does not know (skipOffsetFromLatest) is not there.
std::string WithoutUnknown(const JsonValue& spec) {
  JsonDocument copy;
  copy.CopyFrom(spec, copy.GetAllocator());
  copy.RemoveMember("suspended");
  if (!copy.HasMember("spec") || !copy["spec"].IsObject()) return ToText(copy);
  for (const char* part : {"ioConfig", "tuningConfig"}) {
    auto found = copy["spec"].FindMember(part);
    if (found != copy["spec"].MemberEnd() && found->value.IsObject()) {
      found->value.RemoveMember("skipOffsetFromLatest");
    }
  }
  return ToText(copy);
}

std::string PayloadOf(const SimulatedSupervisor& supervisor, const std::string& task) {
  JsonWriter out;
  out.Object().Member("type", "index_kafka").Member("id", task);
  out.Member("groupId", GroupOf(supervisor)).Member("dataSource", supervisor.datasource);
  out.Key("ioConfig").Object().Key("startSequenceNumbers").Object();
  out.Member("type", "start").Member("stream", supervisor.topic);
  out.Key("partitionSequenceNumberMap").Object().Member("0", supervisor.committed).End().End();
  if (supervisor.minimum) out.Member("minimumMessageTime", supervisor.minimum->ToString());
  out.End().Key("context").Object().End().End();
  return out.Take();
}

}  // namespace

absl::StatusOr<std::string> Streams::Post(const JsonValue& spec) {
  SimulatedSupervisor supervisor;
  supervisor.datasource = FindString(spec, "spec/dataSchema/dataSource");
  supervisor.topic = FindString(spec, "spec/ioConfig/topic");
  const JsonValue* schema = simulator::Find(spec, "spec/dataSchema");
  if (supervisor.datasource.empty() || supervisor.topic.empty() || schema == nullptr) {
    return absl::InvalidArgumentError(
        "Cannot construct instance of `org.apache.druid.indexing.kafka.supervisor."
        "KafkaSupervisorSpec`, problem: dataSchema");
  }
  if (absl::Status status = ReadBounds(spec, supervisor); !status.ok()) return status;
  supervisor.id = supervisor.datasource;
  const std::string own_id = FindString(spec, "id");
  if (world_.options.supervisor_ids && !own_id.empty()) supervisor.id = own_id;
  supervisor.schema_json = ToText(*schema);
  supervisor.spec_json = WithoutUnknown(spec);
  supervisor.suspended = FindBool(spec, "suspended", false);
  const auto before = supervisors_.find(supervisor.id);
  if (before != supervisors_.end()) {
    const SimulatedSupervisor& old = before->second;
    supervisor.committed = old.topic == supervisor.topic ? old.committed : 0;
    supervisor.task = old.task;
    supervisor.read = old.read;
    supervisor.minimum = old.minimum;
  }
  const std::string id = supervisor.id;
  const bool suspended = supervisor.suspended;
  supervisors_[id] = std::move(supervisor);
  if (!suspended) StartSoon(id);
  return id;
}

const SimulatedSupervisor* Streams::Find(const std::string& id) const {
  const auto found = supervisors_.find(id);
  return found == supervisors_.end() || found->second.gone ? nullptr : &found->second;
}

std::vector<const SimulatedSupervisor*> Streams::All() const {
  std::vector<const SimulatedSupervisor*> all;
  for (const auto& [id, supervisor] : supervisors_) {
    if (!supervisor.gone) all.push_back(&supervisor);
  }
  return all;
}

absl::Status Streams::Suspend(const std::string& id) {
  SimulatedSupervisor& supervisor = supervisors_.at(id);
  if (supervisor.suspended) {
    return absl::FailedPreconditionError(absl::StrCat("[", id, "] is already suspended"));
  }
  supervisor.suspended = true;
  StopSoon(id);
  return absl::OkStatus();
}

absl::Status Streams::Resume(const std::string& id) {
  SimulatedSupervisor& supervisor = supervisors_.at(id);
  if (!supervisor.suspended) {
    return absl::FailedPreconditionError(absl::StrCat("[", id, "] is already running"));
  }
  supervisor.suspended = false;
  StartSoon(id);
  return absl::OkStatus();
}

void Streams::Terminate(const std::string& id) {
  supervisors_.at(id).gone = true;
  StopSoon(id);
}

void Streams::Produce(const std::string& topic, const std::vector<std::string>& rows) {
  std::vector<std::string>& all = topics_[topic];
  all.insert(all.end(), rows.begin(), rows.end());
  for (auto& [id, supervisor] : supervisors_) {
    if (supervisor.topic == topic) Read(supervisor);
  }
}

int64_t Streams::LatestOffset(const std::string& topic) const {
  const auto found = topics_.find(topic);
  return found == topics_.end() ? 0 : static_cast<int64_t>(found->second.size());
}

void Streams::StartSoon(const std::string& id) {
  world_.Schedule(world_.tick() + kDelay, [this, id] { StartTask(id); });
}

void Streams::StartTask(const std::string& id) {
  const auto found = supervisors_.find(id);
  if (found == supervisors_.end()) return;
  SimulatedSupervisor& supervisor = found->second;
  if (supervisor.suspended || supervisor.gone || !supervisor.task.empty()) return;
  supervisor.minimum = supervisor.late_start;
  if (supervisor.late_period) supervisor.minimum = world_.now() - *supervisor.late_period;
  supervisor.read = supervisor.committed;
  supervisor.publishing = false;
  supervisor.thrown_away = 0;
  Task task;
  task.type = "index_kafka";
  task.id = absl::StrCat("index_kafka_", id, "_", IdSuffix(world_.tasks.submitted()));
  task.group = GroupOf(supervisor);
  task.datasource = supervisor.datasource;
  task.payload_json = PayloadOf(supervisor, task.id);
  task.context_json = "{}";
  task.priority = kPriority;
  task.created = world_.now();
  task.fate = TaskFate::kStuck;  // until it is told to end
  supervisor.task = task.id;
  world_.tasks.Submit(std::move(task));
  Read(supervisor);
}

std::optional<IngestSpec> Streams::SpecOver(const SimulatedSupervisor& supervisor,
                                            int64_t from) const {
  const auto topic = topics_.find(supervisor.topic);
  if (topic == topics_.end()) return std::nullopt;
  const auto& rows = topic->second;
  const auto to = static_cast<int64_t>(rows.size());
  if (from >= to) return std::nullopt;
  JsonWriter out;
  out.Object().RawMember("dataSchema", supervisor.schema_json);
  out.Key("ioConfig").Object().Member("type", "index_parallel");
  out.Member("appendToExisting", true).Member("dropExisting", false);
  out.Key("inputSource").Object().Member("type", "inline");
  out.Member("data", absl::StrJoin(rows.begin() + from, rows.end(), "\n")).End();
  out.Key("inputFormat").Object().Member("type", "json").End().End();
  out.Key("tuningConfig").Object().Member("type", "index_parallel").End().End();
  const absl::StatusOr<JsonDocument> json = ParseJson(out.Take());
  if (!json.ok()) return std::nullopt;
  absl::StatusOr<IngestSpec> spec = ParseIngestSpec(&*json);
  return spec.ok() ? std::optional(*std::move(spec)) : std::nullopt;
}

// Of every bucket that has a row; a lock of lower priority is taken away from its holder.
bool Streams::TakeLocks(const SimulatedSupervisor& supervisor, int64_t from) {
  const auto spec = SpecOver(supervisor, from);
  if (!spec) return true;
  Input input = ReadInput(*spec, world_.segments, {}, true);
  const auto early = [&](const InputRow& row) {
    return supervisor.minimum && row.time < *supervisor.minimum;
  };
  input.rows.erase(std::remove_if(input.rows.begin(), input.rows.end(), early), input.rows.end());
  for (const Interval& written : WrittenIntervals(*spec, input)) {
    if (!world_.locks.TryAcquire(GroupOf(supervisor), supervisor.datasource, {written}, kPriority,
                                 world_.now())) {
      return false;
    }
  }
  return true;
}

void Streams::Read(SimulatedSupervisor& supervisor) {
  if (supervisor.task.empty() || supervisor.publishing) return;
  const Task* task = world_.tasks.Find(supervisor.task);
  if (task == nullptr || task->stage != Task::Stage::kRunning) return;
  if (TakeLocks(supervisor, supervisor.read)) supervisor.read = LatestOffset(supervisor.topic);
}

void Streams::StopSoon(const std::string& id) {
  const std::string task = supervisors_.at(id).task;
  if (task.empty()) return;
  world_.Schedule(world_.tick() + kDelay, [this, id, task] { PublishTask(id, task); });
}

void Streams::PublishTask(const std::string& id, const std::string& task_id) {
  SimulatedSupervisor& supervisor = supervisors_.at(id);
  Task* task = world_.tasks.Find(task_id);
  if (supervisor.task != task_id || task == nullptr || supervisor.publishing) return;
  if (task->done()) return Ended(supervisor);  // somebody shut it down
  supervisor.publishing = true;
  auto spec = SpecOver(supervisor, supervisor.committed);
  if (spec) {
    Input input = ReadInput(*spec, world_.segments, {}, true);
    // What came after it had stopped reading is the next one's.
    input.rows.resize(
        std::min(input.rows.size(), static_cast<size_t>(supervisor.read - supervisor.committed)));
    const auto early = [&](const InputRow& row) {
      return supervisor.minimum && row.time < *supervisor.minimum;
    };
    const auto kept = std::remove_if(input.rows.begin(), input.rows.end(), early);
    supervisor.thrown_away = input.rows.end() - kept;
    input.rows.erase(kept, input.rows.end());
    task->ingest = std::move(spec);
    task->input = std::move(input);
    if (!Publish(world_, *task).ok()) {
      world_.tasks.Shutdown(*task);
      return Ended(supervisor);
    }
    task->ingest.reset();
  }
  supervisor.committed = supervisor.read;
  world_.Schedule(world_.tick() + kDelay, [this, id, task_id] { HandOff(id, task_id); });
}

// It ends, and frees its locks, once all that it published is served.
void Streams::HandOff(const std::string& id, const std::string& task_id) {
  Task* task = world_.tasks.Find(task_id);
  SimulatedSupervisor& supervisor = supervisors_.at(id);
  const bool served =
      std::all_of(task->published.begin(), task->published.end(), [&](const std::string& segment) {
        const Segment* there = world_.segments.Find(task->datasource, segment);
        return there == nullptr || !there->used || there->announced;
      });
  if (!served && !task->done()) {
    world_.Schedule(world_.tick() + kDelay, [this, id, task_id] { HandOff(id, task_id); });
    return;
  }
  world_.tasks.Succeed(*task);
  Ended(supervisor);
}

void Streams::Ended(SimulatedSupervisor& supervisor) {
  supervisor.task.clear();
  supervisor.publishing = false;
  if (supervisor.gone) {
    supervisors_.erase(std::string(supervisor.id));
  } else if (!supervisor.suspended) {
    StartSoon(supervisor.id);
  }
}

}  // namespace interlock::simulator
