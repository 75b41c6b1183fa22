// What streams may still write, against what a backfill asks for: when it is submitted, and
// when it is planned.
//
// Threads: functions on a transaction.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/backfill/record.h"
#include "lib/backfill/tail_terms.h"
#include "lib/store/store.h"
#include "lib/time/granularity.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// What is asked for, of which spec.
struct TailsAsked {
  std::string datasource;
  std::vector<Interval> intervals;  // whole partitions of `granularity`
  Granularity granularity;
  bool reads_itself = false;  // its input is what it replaces, and nothing else
  TailTerms terms;
};

struct Takeable {
  std::vector<Interval> now;         // to be reserved at once; may be empty
  std::vector<Interval> later;       // once a tail has passed, or in the handover
  std::vector<std::string> notices;  // "REASON: text"
};

// FAILED_PRECONDITION, with the boundary to the millisecond and the largest interval that
// would do: TAIL; UNBOUNDED_TAIL, with the command that declares one.
absl::StatusOr<Takeable> TakeableNow(store::Transaction& tx, const TailsAsked& asked);

}  // namespace interlock::backfill
