// What a backfill's units come to together, held against what is expected over all of it.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "lib/backfill/record.h"
#include "lib/store/store.h"

namespace interlock::backfill {

enum class TotalsSeen {
  kAsExpected,  // or nothing is expected
  kNotKnown,    // of some unit: it was skipped, or accepted without proof
  kDiffer,      // by now all that it wrote is SUSPECT
};

// To be asked once nothing is left to do. Every unit was proven by itself, but which of them
// is wrong can't be told: all are SUSPECT then, and no equal work counts them as done. What a
// person has said of that stands until something of the backfill runs again.
absl::StatusOr<TotalsSeen> JudgeTotals(store::Transaction& tx, Backfill& backfill,
                                       const std::map<State, int64_t>& counts);

}  // namespace interlock::backfill
