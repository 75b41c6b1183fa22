// Since when a unit waits for a lock of Druid's, so that it can say so and give up at its
// deadline: a steady stream can keep a REPLACE waiting for ever.
//
// Threads: functions on a write transaction.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/druid/task.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::backfill {

// A lock of a stream's tasks: they come and go, and their successors join it.
bool IsStreamLock(const druid::TaskLock& lock);

// When it was first seen to wait for this holder.
absl::StatusOr<Instant> NoteLockWait(store::Transaction& tx, const std::string& backfill_id,
                                     int64_t unit, const std::string& holder);
absl::Status EndLockWait(store::Transaction& tx, const std::string& backfill_id, int64_t unit);

}  // namespace interlock::backfill
