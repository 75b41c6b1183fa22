// What has become of the neighbours of what a backfill has proven: what was read next door
// then, held against what is read there now.
//
// Threads: any; asks Druid and blocks.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/interval.h"
#include "lib/verify/neighbours.h"

namespace interlock::backfill {

struct NextDoor {
  verify::NeighbourChanges changes;
  std::string why_not;  // why it can't be told; "" where it is
};

// Of the first and the last partition within `interval` that the backfill has proven: what
// lies beside `interval`. Inside of it the partitions' own verdicts tell.
absl::StatusOr<NextDoor> LookNextDoor(store::Store& store, druid::Cluster& cluster,
                                      const std::string& backfill_id, const Interval& interval);

}  // namespace interlock::backfill
