// Who is in the way: the searches behind a grant.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"

namespace interlock::lease {

struct Overlaps {
  std::vector<Held> held;       // by start, then by holder's token
  std::vector<int64_t> tokens;  // of the same
  // Reservations with live rows there whose time is over: what they don't have pinned is
  // free, once Clear has written that down.
  std::vector<Key> lapsed;
};

// What a grant of `intervals` (condensed) in `mode` would overlap at tx.now(). Stops after
// `most` of `held`. Changes nothing.
absl::StatusOr<Overlaps> FindOverlaps(store::Transaction& tx, const DatasourceRow& datasource,
                                      Mode mode, const std::vector<Interval>& intervals,
                                      int64_t most);

// Ends the live rows of a reservation whose time is over, but for what is pinned, once its
// lock delay has passed; notes that it has expired where nobody has.
absl::Status Clear(store::Transaction& tx, const Key& key);

// Where a search among APPEND rows begins: all that reach beyond `start` begin after it. A
// number and not an instant, of which there is none before the first: an APPEND of eternity
// begins there.
int64_t BeforeAppends(Instant start, absl::Duration longest);

}  // namespace interlock::lease
