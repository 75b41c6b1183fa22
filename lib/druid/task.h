// Tasks, locks and sums as Druid reports them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::druid {

enum class TaskState {
  kUnknown,  // neither status field says anything, or the two disagree
  kRunning,
  kSuccess,
  kFailed,
};

struct TaskStatus {
  std::string id;
  std::string group_id;
  std::string type;
  std::string datasource;
  TaskState state = TaskState::kUnknown;
  // WAITING, PENDING, RUNNING, NONE; meaningless unless `state` is kRunning.
  std::string runner_state;
  std::optional<Instant> created;
  int64_t duration_ms = -1;  // -1 while running and after a shutdown
  std::string error;

  bool terminal() const { return state == TaskState::kSuccess || state == TaskState::kFailed; }
  bool top_level() const { return group_id.empty() || group_id == id; }
};

struct TaskPayload {
  std::string id;
  std::string type;
  std::string datasource;
  std::map<std::string, std::string> context;  // member → JSON text
  std::string json;                            // the whole payload
};

// ingestionStatsAndErrors, or killUnusedSegments.
struct TaskReport {
  bool has_row_stats = false;
  int64_t processed = 0;
  int64_t processed_with_error = 0;
  int64_t thrown_away = 0;
  int64_t unparseable = 0;
  std::optional<int64_t> segments_published;
  std::optional<int64_t> segments_killed;
  std::string error;
};

struct TaskLock {
  std::string type;  // EXCLUSIVE, SHARED, REPLACE, APPEND; "" where only intervals are told
  std::string group_id;
  Interval interval;
  std::string version;
  int64_t priority = 0;
  bool revoked = false;
};

// What a query that runs as a task would do (Druid 26 and later).
struct SqlExplanation {
  std::string statement;         // REPLACE, INSERT, SELECT
  std::string datasource;        // that it writes
  std::string granularity_json;  // PARTITIONED BY: a name, or a granularity object
  std::string replaces;          // OVERWRITE WHERE: intervals, or "all"
};

// What the broker counts over one interval.
struct RowSums {
  Interval interval;
  int64_t rows = 0;                    // COUNT(*) of stored rows
  std::map<std::string, double> sums;  // metric → sum
};

// What queries can ask of some time, by a segmentMetadata query.
struct Columns {
  // "LONG", "DOUBLE", "FLOAT", "STRING", "COMPLEX<…>"; "" where Druid does not say.
  std::map<std::string, std::string> types;
  // Rows that came in may be fewer when stored; nothing where segments differ or don't say.
  std::optional<bool> rolled_up;

  bool Has(const std::string& name) const { return types.count(name) != 0; }
  // Adds up: a sum over anything else is no number of rows.
  bool AddsUp(const std::string& name) const;
};

// Which ways of asking this cluster has (druid-versions: ask once, 404 decides).
struct Capabilities {
  std::string version;                // as /status says it; for people only
  bool overlord_marks = false;        // 32+
  bool unused_segments_list = false;  // 29+
  bool active_locks = false;          // 31+
  bool locked_intervals_v2 = false;   // 28+
  bool kill_bounded = false;          // versions and maxUsedStatusLastUpdatedTime (30+)
};

struct ServiceHealth {
  std::string service;  // "coordinator", "overlord", "broker"
  std::string address;
  bool up = false;
  bool refused = false;  // it answers, and does not take our credentials
  bool leader = false;
  std::string text;
};

}  // namespace interlock::druid
