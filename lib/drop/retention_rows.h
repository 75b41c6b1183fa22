// Retention policies in the store's tables.
//
// Threads: functions on a transaction.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/drop/retention.h"
#include "lib/store/store.h"

namespace interlock::drop {

// UNKNOWN_RETENTION_POLICY where there is none.
absl::StatusOr<RetentionPolicy> ReadPolicy(store::Transaction& tx, const std::string& name);
// New, or in place of the one before.
absl::Status WritePolicy(store::Transaction& tx, const RetentionPolicy& policy);
absl::Status RemovePolicy(store::Transaction& tx, const std::string& name);
// By name, those after `after`.
absl::StatusOr<std::vector<RetentionPolicy>> ReadPolicies(store::Transaction& tx,
                                                          const std::string& after, int64_t most);

// What the drops of one run take together, given-up ones apart.
absl::StatusOr<Spent> SpentBy(store::Transaction& tx, const std::string& policy, Instant run);

// Time of a datasource that the policy must leave alone: where a drop of its own has not
// marked anything yet, and where people brought back or gave up what it had taken, since
// the policy was last stored.
absl::StatusOr<std::vector<Interval>> LeftAlone(store::Transaction& tx,
                                                const RetentionPolicy& policy,
                                                const std::string& datasource);

}  // namespace interlock::drop
