// Makes a plan by asking Druid: what is there, what is under it, what stands in the way.
// Changes nothing, so it is allowed under OBSERVE.
//
// Threads: any.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/drop/options.h"
#include "lib/drop/plan.h"
#include "lib/drop/request.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::drop {

struct Planned {
  Plan plan;
  // Why Submit would be refused, in the order of weight; empty where it would not. The
  // plan's blockers say the same.
  std::vector<absl::Status> refusals;
};

// `request` went through Checked. DRUID_UNAVAILABLE where Druid's answers do not come;
// LIMIT_EXCEEDED for a manifest that is too long.
absl::StatusOr<Planned> MakePlan(const DropRequest& request, const Options& options,
                                 store::Store& store, druid::Cluster& cluster, const Clock& clock);

}  // namespace interlock::drop
