// Jumps of the wall clock, kept: a drop whose window a jump fell into waits for an admin.
//
// Threads: functions on a transaction.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::drop {

struct ClockJump {
  Instant at;  // by the store's clock
  absl::Duration by;
};

absl::Status NoteClockJump(store::Transaction& tx, absl::Duration by);

// The last one that was further than `skew`; nothing where there was none.
absl::StatusOr<std::optional<ClockJump>> LastClockJump(store::Transaction& tx, absl::Duration skew);

}  // namespace interlock::drop
