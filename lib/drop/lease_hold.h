// The reservation under which a drop's steps act, and its end.
//
// While a call to Druid may be under way its time is pinned: should the reservation run
// out meanwhile, the time stays blocked until the drop has found out what became of it.
//
// Threads: functions on a transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/audit/caller.h"
#include "lib/drop/check.h"
#include "lib/drop/options.h"
#include "lib/drop/record.h"
#include "lib/store/store.h"

namespace interlock::drop {

// As whom drops reserve time: "ada/nightly".
std::string LeaseHolder(const Drop& drop);

// Whether the drop's reservation lives and holds all of its intervals, be it its own or
// lent; one that nobody else renews (its own, or handed over) is renewed when it is more
// than half over.
absl::StatusOr<bool> HoldsTime(store::Transaction& tx, const Drop& drop, absl::Duration ttl);

// Takes a reservation of the drop's own, in place of what it had. HELD (or the reason of
// what else bars it, SEALED), with its blockers, where the time cannot be had; nothing is
// changed then.
absl::Status TakeTime(store::Transaction& tx, Drop& drop, const Options& options,
                      const audit::Caller& caller);
// What stands in the way of the time that `drop` wants, its own reservation apart: who holds
// it, and what else bars it (seals). At most `most`. A lender's reservation that no longer
// serves is in the way like anybody's.
absl::StatusOr<std::vector<Objection>> InTheWay(store::Transaction& tx, const Drop& drop,
                                                const Options& options, int64_t most);
// Acts under the caller's reservation: it must be the caller's own, of mode REPLACE, and hold
// all intervals. The drop keeps to it as long as it lives: it gives it back for the window
// and borrows it again after; and goes on under one of its own where its lender has gone.
absl::Status BorrowTime(store::Transaction& tx, Drop& drop, const std::string& reservation_id,
                        int64_t token);

// After the window, where HoldsTime says that what was lent still serves.
absl::Status BorrowAgain(store::Transaction& tx, const Drop& drop);

// That an admin has ended the reservation that the drop acts under.
struct Force {
  std::string by;
  std::string reason;
};
absl::StatusOr<std::optional<Force>> TakenByForce(store::Transaction& tx, const Drop& drop);

// Before a call is sent, in the transaction that stores its intent.
absl::Status PinTime(store::Transaction& tx, const Drop& drop);
// No call is under way any more.
absl::Status UnpinTime(store::Transaction& tx, const Drop& drop);

// Gives the time back. A borrowed reservation stays its owner's, and the drop remembers it.
absl::Status LeaveTime(store::Transaction& tx, Drop& drop, const audit::Caller& caller);

}  // namespace interlock::drop
