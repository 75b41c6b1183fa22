// What seal policies would seal now: their units against what Druid has.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/druid/cluster.h"
#include "lib/seal/policies.h"
#include "lib/store/store.h"

namespace interlock::server {

// INVALID_ARGUMENT (PLACEHOLDER_…) of a label that can't be filled in.
absl::Status CheckLabel(const seal::SealPolicy& policy);

// Of every datasource that the policy applies to. Those without segments, or whose list
// Druid does not give, have none this time. DRUID_UNAVAILABLE.
absl::StatusOr<std::vector<seal::SealRequest>> DueNow(store::Store& store, druid::Cluster& cluster,
                                                      const seal::SealPolicy& policy);

}  // namespace interlock::server
