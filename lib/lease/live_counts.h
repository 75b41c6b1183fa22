// The limits on how many reservations live at a time: in one datasource, and there of one
// holder. A holder is who was authenticated, whatever names it gives itself below that: else
// a limit would be evaded by another name. It is counted in each datasource by itself, since
// grants of two datasources share no lock, and none should wait for another's.
//
// A count is kept with the datasource's row and one with each holder's: upper bounds,
// raised with every grant and lowered when rows are cleared. Only where such a bound has
// reached the limit are the rows themselves counted, and they decide (case 104: what
// admits and what is listed must not drift apart).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"

namespace interlock::lease {

// Whom a reservation is counted for: the identity, or, of our own work and of old rows that
// have none, the holder's name.
const std::string& CountedFor(const std::string& identity, const std::string& holder);

// What becomes of those that have expired and are found while counting: written down, so that
// the bounds are true again, or left as they are, as a plan must.
enum class Lapsed { kCleared, kLeft };

// LIMIT_EXCEEDED (RESOURCE_EXHAUSTED) where one more of `whom` would be too many.
absl::Status CheckLive(store::Transaction& tx, const DatasourceRow& datasource,
                       const ReserveRequest& request, const std::string& whom, const Limits& limits,
                       Lapsed lapsed);

// The same for a plan, of who asks by `identity`: nothing is written. Any transaction.
absl::Status CheckRoom(store::Transaction& tx, const ReserveRequest& request,
                       const std::string& identity, const Limits& limits);

// A grant is stored (TakeToken counts it for the datasource).
absl::Status CountOneMore(store::Transaction& tx, int64_t datasource, const std::string& whom);

}  // namespace interlock::lease
