// Takes old events away, whole blocks of the chain at a time, and leaves a checkpoint where
// the chain then begins.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::audit {

// Removes the oldest block if all of its events are older than `before`, with an event that
// tells of it; gives how many events went. What is not chained is never removed, nor is the
// newest block: a chain always has an end. In a write transaction.
absl::StatusOr<int64_t> RemoveOldest(store::Transaction& tx, Instant before);

}  // namespace interlock::audit
