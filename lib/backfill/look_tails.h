// Whether streams stand in the way of a unit, by a look at Druid just before it is posted:
// the payloads of the tasks that run, and the specs of the next ones.
//
// Threads: functions without state.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lib/backfill/options.h"
#include "lib/backfill/record.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"

namespace interlock::backfill {

struct TailSight {
  bool known = true;    // Druid could be asked
  std::string reason;   // "" where nothing is in the way: TAIL, UNBOUNDED_TAIL, …
  std::string message;  // with the boundary to the millisecond, and what would do
};

// Only of datasources that are known to have streams: nothing is asked for the others.
absl::StatusOr<TailSight> LookForTails(store::Store& store, druid::Cluster& cluster,
                                       const Backfill& backfill, const Unit& unit,
                                       const Options& options);

// In the transaction that stores the intent to post the unit: whether the handover, where
// the unit needs one, has the stream for longer than the call. What was looked at before may
// have changed since.
absl::StatusOr<TailSight> CheckHandover(store::Transaction& tx, const Backfill& backfill,
                                        const Unit& unit, const Options& options);

}  // namespace interlock::backfill
