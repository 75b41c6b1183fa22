// Supervisors and the stream tasks they make, as the overlord tells of them.
//
// What a stream may still write stands in two places: in the payloads of its running tasks
// (bounds that were fixed when a task was made, and hold until it ends), and in the
// supervisor's spec (bounds that its next task will get). The supervisor's status says how
// it does, and not which tasks live: right after a start, a resume or a roll-over it lists
// none while one runs and holds its locks (measured on 33.0.0).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/time/instant.h"

namespace interlock::druid {

// Bounds on the times of messages, as a supervisor's ioConfig has them. At most one of the
// two late ones is set (Druid refuses both: SeekableStreamSupervisorIOConfig).
struct MessageBounds {
  std::optional<absl::Duration> late_period;  // lateMessageRejectionPeriod: before a task is made
  std::optional<Instant> late_start;          // lateMessageRejectionStartDateTime
  std::optional<absl::Duration> early_period;

  bool bounded() const { return late_period.has_value() || late_start.has_value(); }
  bool operator==(const MessageBounds& other) const = default;
};

struct Supervisor {
  std::string id;
  std::string datasource;
  std::string type;    // "kafka", "kinesis", "autocompact" …
  std::string stream;  // the topic; "" where it reads none
  bool suspended = false;
  bool healthy = true;
  std::string state, detailed_state;  // as Druid says them
  MessageBounds bounds;
  // A declared skipOffsetFromLatest, in ioConfig or tuningConfig. Druid drops it when the
  // spec is posted, so this is only ever set in specs that did not come from Druid.
  std::optional<absl::Duration> skip_offset;
  std::optional<absl::Duration> task_duration;
  bool concurrent_locks = false;  // context.useConcurrentLocks
  // Equal digests, equal specs, whether suspended or not.
  std::string digest;

  // It reads a stream; a compaction's supervisor does not.
  bool streams() const { return !stream.empty(); }
};

// A supervisor's spec as people write it and post it. SPEC_INVALID (INVALID_ARGUMENT) with
// what is wrong.
absl::StatusOr<Supervisor> ParseSupervisorSpec(absl::string_view json);

// How it does. Never asked which tasks live.
struct SupervisorHealth {
  std::string state, detailed_state;
  bool suspended = false;
  bool healthy = true;
  std::optional<int64_t> lag;              // summed over partitions; up to 30 s old
  std::vector<std::string> recent_errors;  // newest first
};

// What its live tasks have counted since each began.
struct StreamCounts {
  int64_t processed = 0;
  int64_t processed_with_error = 0;
  int64_t thrown_away = 0;  // outside the bounds: Druid says no more of them than this
  int64_t unparseable = 0;
};

// A stream's task, from its payload.
struct StreamTask {
  std::string id;
  std::string group_id;
  std::string datasource;
  std::string stream;  // what it really reads, whatever its supervisor's spec says by now
  std::optional<Instant> minimum_message_time;  // nothing: unbounded
  std::optional<Instant> maximum_message_time;
  bool concurrent_locks = false;
  std::map<std::string, std::string> start_offsets;  // partition → offset
};

// Types of tasks that read a stream: "index_kafka", "index_kinesis" ….
bool IsStreamTaskType(absl::string_view type);

// From TaskPayload::json. INVALID_ARGUMENT for what is no stream's task.
absl::StatusOr<StreamTask> ReadStreamTask(const std::string& id, const std::string& payload_json);

}  // namespace interlock::druid
