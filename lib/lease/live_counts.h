// The limits on how many reservations live at a time.
//
// A count is kept with the datasource's row and one with each holder's: upper bounds,
// raised with every grant and lowered when rows are cleared. Only where such a bound has
// reached the limit are the rows themselves counted, and they decide (case 104: what
// admits and what is listed must not drift apart).
#pragma once

#include "absl/status/status.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"

namespace interlock::lease {

// LIMIT_EXCEEDED (RESOURCE_EXHAUSTED) where one more would be too many.
absl::Status CheckLive(store::Transaction& tx, const DatasourceRow& datasource,
                       const ReserveRequest& request, const Limits& limits);

// A grant is stored (TakeToken counts it for the datasource).
absl::Status CountOneMore(store::Transaction& tx, int64_t datasource, const std::string& holder);

}  // namespace interlock::lease
