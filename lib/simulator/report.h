// Task reports and statuses as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "lib/simulator/json.h"
#include "lib/simulator/task.h"
#include "lib/simulator/traits.h"

namespace interlock::simulator {

struct KillCounts {
  int64_t killed = 0;
  int64_t batches = 0;
  int64_t marked = 0;
};

// `state` is where it stands or stood when it failed: "COMPLETED", "BUILD_SEGMENTS", …;
// `error` is "" where all went well.
std::string IngestReport(const Task& task, const std::string& state, const std::string& error);
std::string KillReport(const Task& task, const Traits& traits, const KillCounts& counts);
// Of a task that still runs: an ingestion's has no counts yet, others have none at all.
std::string LiveReport(const Task& task);
// Of a task that claims success and did nothing; "" for one that has no report.
std::string EmptyReport(const Task& task);

// The object that /task/ID/status has under "status" and the lists have as entries. Druid
// says WAITING for a finished task in the one, NONE in the other.
enum class StatusPlace { kSingle, kList };
void WriteStatus(JsonWriter& out, const Task& task, StatusPlace place);
// The object of POST /taskStatus.
void WriteShortStatus(JsonWriter& out, const Task& task);

}  // namespace interlock::simulator
