// The reservations under which a backfill's units are submitted: taken first, renewed
// while Druid works (also while Druid is away), given back partition by partition.
//
// Threads: functions on a transaction.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/backfill/options.h"
#include "lib/backfill/record.h"
#include "lib/lease/reservation.h"
#include "lib/store/store.h"

namespace interlock::backfill {

// As whom a backfill reserves time: "ada/nightly".
std::string LeaseHolder(const Backfill& backfill);

// Takes a reservation of the backfill's own for `intervals`; with skip_held, of what is
// free. HELD where nothing could be had. Sets the backfill's reservation and renewal.
absl::StatusOr<lease::Grant> TakeTime(store::Transaction& tx, Backfill& backfill,
                                      const std::vector<Interval>& intervals,
                                      const Options& options, const audit::Caller& caller);
// Acts under the caller's reservation, which must hold all intervals. Where the caller
// releases it before the backfill is over, the backfill keeps it until then.
absl::Status BorrowTime(store::Transaction& tx, Backfill& backfill);
// The backfill is over: what was borrowed goes back. Twice is no error.
absl::Status ReturnTime(store::Transaction& tx, const Backfill& backfill);

// Renews what the backfill's unfinished units hold, when that is due, and puts units whose
// lease has ended back to PENDING (those with an open attempt stay: it is pinned).
absl::Status KeepTime(store::Transaction& tx, Backfill& backfill, const Options& options);

// Pins the unit's time to its attempt, checking the lease: its errors (lease::CheckToken).
// Gives when the lease ends, by the store's clock.
//
// Refused (FAILED_PRECONDITION) where a seal, or what else bars time, holds there by now:
// its lease was granted while that was lifted.
absl::StatusOr<Instant> PinUnit(store::Transaction& tx, const std::string& datasource,
                                const StoredUnit& unit, const std::string& task_id,
                                const lease::Limits& limits);
absl::Status UnpinUnit(store::Transaction& tx, const StoredUnit& unit, const std::string& task_id);

// Gives back the time of a unit that is over. One that ended already is no error.
absl::Status LeaveTime(store::Transaction& tx, const Backfill& backfill, const StoredUnit& unit);

// Whether the status says that a reservation is no longer ours.
bool MeansLeaseLost(const absl::Status& status);

}  // namespace interlock::backfill
