// How many reservations block others, for metrics: derived from the table each time, so
// that what is counted and what is admitted never drift apart (case 104).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/store.h"

namespace interlock::lease {

struct ReservationCount {
  std::string datasource;
  std::string mode;   // "REPLACE", "APPEND"
  std::string state;  // "ACTIVE", "ORPHANED", "WAITING"
  int64_t count = 0;
};

// One pass over the live rows and the pins. Any transaction.
absl::StatusOr<std::vector<ReservationCount>> CountBlocking(store::Transaction& tx);

struct NearExpiry {
  std::string datasource;
  int64_t count = 0;
};

// Leases of which less than a quarter is left, by datasource. Who renews does so long before
// (at two thirds left, and each twentieth after a failure), so these are of holders that are
// in trouble, or that let them end.
absl::StatusOr<std::vector<NearExpiry>> CountNearExpiry(store::Transaction& tx);

}  // namespace interlock::lease
