// What a backfill would do, before it does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/request.h"
#include "lib/backfill/spec_correction.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"

namespace interlock::backfill {

// One version that is visible in a partition, and would be hidden.
struct Replaced {
  Interval chunk;  // its segments' own interval, which may stick out
  std::string version;
  int64_t segments = 0, appended = 0, tombstones = 0, bytes = 0;
  bool by_compaction = false;
  std::optional<int64_t> rows;  // raw rows by the count metric, else stored ones
};

struct PlannedPartition {
  enum class Action {
    kRun,
    kSkipDone,
    kSkipHeld,
    kBlocked,
    kWaitForStream,  // once its tail has passed, or in the handover
  };
  Interval partition;
  size_t unit = 0;
  Action action = Action::kRun;
  std::vector<Replaced> replaces;
  std::vector<Obstacle> obstacles;

  // The versions of `replaces`; "" where nothing is there.
  std::string generation() const;
};

struct PlannedUnit {
  Unit unit;
  std::string reads;  // its input source as JSON, narrowed, cut at kMaxReadsBytes
};
inline constexpr size_t kMaxReadsBytes = 1'000;
// Partitions whose rows are counted: a query each.
inline constexpr size_t kMaxCountedPartitions = 100;
// Tasks whose input is looked at: a folder or a request each.
inline constexpr size_t kMaxLookedAtInputs = 100;

struct Plan {
  std::string datasource;
  std::vector<Interval> intervals;
  std::string granularity_json;
  bool widened = false;
  std::string label;
  std::string why_cut, finer;
  std::vector<PlannedUnit> units;
  std::vector<PlannedPartition> partitions;
  std::vector<Obstacle> obstacles;   // of the whole
  std::vector<std::string> notices;  // "REASON: text"
  // The generation that is read, where the input is the target itself: its versions.
  std::string generation_read;
  // Digest of the world that the plan was made against: what is visible, who holds what, and
  // the work itself. Locks that come and go are no part of it.
  std::string revision;
  bool druid_answered = true;
  std::string spec_json;
  std::vector<SpecChange> changes;  // from the spec that came in
  std::string job;                  // "" where the spec came with the request
  int64_t job_version = 0;
  std::vector<Source> sources;  // of that job
  std::vector<SpecFault> warnings;
};

// Looks at the store and at Druid; neither is changed. A Druid that does not answer leaves
// a notice, and `replaces` empty.
// `limits` are those that its reservation will be asked under: what bars that, bars it.
absl::StatusOr<Plan> PlanOf(const CheckedRequest& checked, const lease::Limits& limits,
                            store::Store& store, druid::Cluster& cluster);

// A submit names a plan, or a generation: whether the world is still as it was then.
// ABORTED (PLAN_STALE, GENERATION_MOVED), UNAVAILABLE (DRUID_UNAVAILABLE) where that can't
// be known now.
absl::Status CheckPlanned(const BackfillRequest& request, const Plan& plan);

}  // namespace interlock::backfill
