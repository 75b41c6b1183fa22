// Handovers in the store's tables.
//
// Threads: functions on a transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/backfill/handover.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"

namespace interlock::backfill {

// Of handovers, of what backfills do about tails (tail_terms.h), and of units that wait for
// a lock of Druid's (lock_waits.h).
store::Schema HandoverSchema();

absl::StatusOr<std::optional<Handover>> ReadHandover(store::Transaction& tx,
                                                     const std::string& backfill_id);
absl::Status PutHandover(store::Transaction& tx, const Handover& handover);
// The backfill whose handover has the supervisor now; "" for none. An index of the store's
// holds that there is one at most.
absl::StatusOr<std::string> WhoHasSupervisor(store::Transaction& tx,
                                             const std::string& supervisor_id);

// Those that have a stream suspended now, for gauges.
absl::StatusOr<std::vector<Handover>> HandoversAtWork(store::Transaction& tx);

}  // namespace interlock::backfill
