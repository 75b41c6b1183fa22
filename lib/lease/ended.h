// Why a reservation no longer serves.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"

namespace interlock::lease {

enum class Act {
  kRenew,  // lives of its own: a later grant makes it SUPERSEDED
  kWrite,  // acts on the data: a later grant makes its token stale
};

// Notes how it ended, in the log and the audit too; what is not pinned is free. Returns it as
// it is then.
absl::StatusOr<Reservation> End(store::Transaction& tx, const Stored& stored, State state,
                                const char* method, const audit::Caller& caller);
// An active one keeps only `kept`, which is not empty.
absl::Status KeepPart(store::Transaction& tx, const Stored& stored,
                      const std::vector<Interval>& kept);

// The error for a reservation that is not active at tx.now().
absl::Status WhyEnded(store::Transaction& tx, const Stored& stored, Act act);

// The reservation of an id and its token, active or not: UNKNOWN_RESERVATION, STALE_TOKEN.
absl::StatusOr<Stored> FindWithToken(store::Transaction& tx, const std::string& id, int64_t token);
// The same, active: or WhyEnded.
absl::StatusOr<Stored> FindActive(store::Transaction& tx, const std::string& id, int64_t token,
                                  Act act);

}  // namespace interlock::lease
