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

}  // namespace interlock::lease
