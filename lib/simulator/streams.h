// Supervisors that read a topic, their tasks, and the topics: enough of a stream for a
// backfill to meet one. A supervisor has one task, of one partition; the task locks each
// bucket that it reads a row of, at a stream's priority, until it has published and its
// segments are served.
//
// Not simulated: roll-over after taskDuration, replicas, several partitions, Kafka itself.
// A topic's rows come by /simulator/topics/NAME (control.h). Nothing of it is kept in a
// saved state.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/simulator/json.h"
#include "lib/simulator/task.h"
#include "lib/time/instant.h"

namespace interlock::simulator {

class World;

struct SimulatedSupervisor {
  std::string id;
  std::string datasource;
  std::string topic;
  std::string spec_json;    // as Druid gives it back, but for `suspended`
  std::string schema_json;  // its dataSchema
  bool suspended = false;
  bool gone = false;  // terminated; its task still publishes
  std::optional<absl::Duration> late_period;
  std::optional<Instant> late_start;

  int64_t committed = 0;  // the first row that is not published
  int64_t read = 0;       // … that its task has not read
  std::string task;       // "" for none
  bool publishing = false;
  std::optional<Instant> minimum;  // of its task: rows before it are thrown away
  int64_t thrown_away = 0;         // by its task
};

class Streams {
 public:
  explicit Streams(World& world) : world_(world) {}

  // The id. A second one of the same id, which is the datasource's name up to 33, replaces
  // the first, and adopts its task.
  // INVALID_ARGUMENT with the text of `{"error":…}`.
  absl::StatusOr<std::string> Post(const JsonValue& spec);
  // Null where there is none (any more).
  const SimulatedSupervisor* Find(const std::string& id) const;
  std::vector<const SimulatedSupervisor*> All() const;
  // FAILED_PRECONDITION where it is so already.
  absl::Status Suspend(const std::string& id);
  absl::Status Resume(const std::string& id);
  void Terminate(const std::string& id);

  // JSON rows, a message each.
  void Produce(const std::string& topic, const std::vector<std::string>& rows);
  int64_t LatestOffset(const std::string& topic) const;

 private:
  void StartSoon(const std::string& id);
  void StartTask(const std::string& id);
  void Read(SimulatedSupervisor& supervisor);
  void StopSoon(const std::string& id);
  void PublishTask(const std::string& id, const std::string& task);
  void HandOff(const std::string& id, const std::string& task);
  void Ended(SimulatedSupervisor& supervisor);
  // What its task has, or would have, read from `from` on. Nothing where no row lies there.
  std::optional<IngestSpec> SpecOver(const SimulatedSupervisor& supervisor, int64_t from) const;
  bool TakeLocks(const SimulatedSupervisor& supervisor, int64_t from);

  World& world_;
  std::map<std::string, SimulatedSupervisor> supervisors_;
  std::map<std::string, std::vector<std::string>> topics_;
};

}  // namespace interlock::simulator
