// What our own ledger knows to have changed around some time: attempts of all backfills, and
// whoever holds a reservation there, or held one.
//
// Threads: functions on a transaction.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/backfill/record.h"
#include "lib/store/store.h"
#include "lib/verify/neighbours.h"

namespace interlock::backfill {

// Since `since`, but for `attempt`'s own doing.
absl::StatusOr<std::vector<verify::KnownChange>> KnownChanges(store::Transaction& tx,
                                                              const Attempt& attempt,
                                                              const Interval& around,
                                                              Instant since);

// Reservations that have ended since: drops and retirements are among them, and what others
// did under theirs. Looks through all of the datasource's: for a look that is rare.
absl::Status AddEnded(store::Transaction& tx, const Attempt& attempt, const Interval& around,
                      Instant since, std::vector<verify::KnownChange>* known);

}  // namespace interlock::backfill
