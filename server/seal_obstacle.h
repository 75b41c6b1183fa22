// Where seals meet leases: what a grant asks of seals, and what a seal asks of leases. Both
// are asked inside of a transaction that decides.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/lease/obstacle.h"
#include "lib/seal/seals.h"
#include "lib/store/store.h"

namespace interlock::server {

// Refuses every grant over sealed time, with the seal named.
lease::Obstacle SealObstacle();

// Seals that bar any of `interval`, by their intervals: what a derived job runs beside.
absl::StatusOr<std::vector<Interval>> SealedIn(store::Transaction& tx,
                                               const std::string& datasource,
                                               const Interval& interval);

// Live leases, orphans and tails over the interval.
absl::StatusOr<std::vector<seal::Holder>> HoldersOf(store::Transaction& tx,
                                                    const std::string& datasource,
                                                    const Interval& interval);

}  // namespace interlock::server
