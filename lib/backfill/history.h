// What is remembered of backfills that are over, and for how long.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::backfill {

// Removes backfills that ended before `before`, with their units, partitions, attempts and
// rollbacks: a few at a time, so that nobody waits for it. What was proven last of each
// partition stays, so that no work is done again because its history is gone; and so does the
// audit. Gives how many backfills went; 0 when none is left to.
absl::StatusOr<int64_t> ForgetOldest(store::Transaction& tx, Instant before);

}  // namespace interlock::backfill
