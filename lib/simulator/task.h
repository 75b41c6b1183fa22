// One task of the simulated overlord.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/simulator/ingest_spec.h"
#include "lib/simulator/input_reader.h"
#include "lib/simulator/segment.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

struct KillSpec {
  Interval interval;
  std::optional<std::vector<std::string>> versions;
  std::optional<Instant> max_status_updated;  // inclusive
  std::optional<int64_t> limit;
  int64_t batch_size = 100;
  bool mark_as_unused = false;  // obeyed by older versions
};

// What a fault makes of a task that would have gone well.
enum class TaskFate {
  kHonest,
  kStuck,               // runs until it is shut down
  kFails,               // FAILED, nothing published
  kFailedButPublished,  // FAILED, and its segments are there
  kSuccessButNothing,   // SUCCESS, and nothing is there
};

struct Task {
  enum class Stage { kWaiting, kPending, kRunning, kDone };

  std::string id;
  std::string group;
  std::string type;
  std::string datasource;
  std::string payload_json;
  std::string context_json;
  int64_t priority = 0;
  Instant created;

  std::optional<IngestSpec> ingest;
  std::optional<KillSpec> kill;
  std::optional<Moment> noop_runs;
  // Locked before the task runs; empty where an ingestion finds out what it writes, and
  // for noop.
  std::vector<Interval> lock_intervals;

  TaskFate fate = TaskFate::kHonest;
  Stage stage = Stage::kWaiting;
  Moment started{0};
  std::optional<Moment> due;  // of a running task: when it ends
  // Of one that was shut down while it ran: until then its thread hangs on, with its slot.
  std::optional<Moment> lingers_until;
  std::optional<Input> input;          // read when it started
  std::vector<std::string> subtasks;   // ids, of a parallel one
  std::vector<std::string> published;  // ids of its segments
  Moment awaits_since{0};              // it has published, and waits until all are served
  std::optional<Moment> awaits_until;
  Moment waited{0};
  bool confirmed = false;  // all were served in time
  bool subtask = false;

  bool success = false;
  std::string error;  // "" is null
  int64_t duration = -1;
  std::string report_json;  // "" if there is none

  bool done() const { return stage == Stage::kDone; }
};

}  // namespace interlock::simulator
