// What a backfill would do, before it does it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/backfill/request.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {

struct PlannedPartition {
  enum class Action { kRun, kSkipDone, kSkipHeld, kBlocked };
  Interval partition;
  size_t unit = 0;
  Action action = Action::kRun;
  std::vector<std::string> replaces;  // versions that are visible now
  std::vector<Blocker> blockers;
};

struct PlannedUnit {
  Unit unit;
  std::string reads;  // its input source as JSON, narrowed, cut at kMaxReadsBytes
};
inline constexpr size_t kMaxReadsBytes = 1'000;

struct Plan {
  std::string datasource;
  std::vector<Interval> intervals;
  std::string granularity_json;
  bool widened = false;
  std::string label;
  std::string why_cut, finer;
  std::vector<PlannedUnit> units;
  std::vector<PlannedPartition> partitions;
  std::vector<std::string> notices;  // "REASON: text"
  // The generation that is read, where the input is the target itself: its versions.
  std::string generation_read;
  // Digest of what the plan was made against: what is visible, and what is held.
  std::string revision;
  std::string spec_json;
  std::vector<SpecFault> warnings;
};

// Looks at the store and at Druid; neither is changed. A Druid that does not answer leaves
// a notice, and `replaces` empty.
absl::StatusOr<Plan> PlanOf(const CheckedRequest& checked, store::Store& store,
                            druid::Cluster& cluster);

}  // namespace interlock::backfill
