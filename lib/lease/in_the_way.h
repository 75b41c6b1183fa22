// All that refuses a request: live reservations, orphans, lock delays, tails, what other
// modules bar, and those who waited before.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"

namespace interlock::lease {

struct InTheWay {
  std::vector<Held> held;  // by start
  // Reservations with live rows there whose time is over: what they don't have pinned is
  // free, once Clear has written that down.
  std::vector<Key> lapsed;
  bool all = true;  // false where there may be more than was looked for
};

// The last place in any line: all waiters come before it.
inline constexpr int64_t kNoPlace = std::numeric_limits<int64_t>::max();

// What stands in the way of `request` over `asked` (condensed) at tx.now(); `place` is its
// own in the line. Stops after `most` reservations. Changes nothing.
absl::StatusOr<InTheWay> FindInTheWay(store::Transaction& tx, const DatasourceRow& datasource,
                                      const ReserveRequest& request,
                                      const std::vector<Interval>& asked, int64_t place,
                                      int64_t most, const Limits& limits);

// Of that, what is no reservation and does not wait: tails and what other modules bar.
absl::StatusOr<std::vector<Held>> FindBarriers(store::Transaction& tx,
                                               const DatasourceRow& datasource,
                                               const ReserveRequest& request,
                                               const std::vector<Interval>& asked,
                                               const Limits& limits);

// What is not granted with skip_held, and why: what others have, each piece in whole
// partitions of the request's calendar where it has one. With WithoutHeld it is all of `asked`.
std::vector<Held> LeftOut(const ReserveRequest& request, const std::vector<Interval>& asked,
                          const std::vector<Held>& held);

// What is left of `asked` without what others have, in whole partitions where it matters.
std::vector<Interval> WithoutHeld(const ReserveRequest& request, const std::vector<Interval>& asked,
                                  const std::vector<Held>& held);

// The error for what is in the way (not empty): its reason is that of what will stand
// longest: SEALED and the like, TAIL or UNBOUNDED_TAIL, CROSSING_GRANULARITY, HELD,
// LOCK_DELAY, BEHIND_WAITER.
absl::Status Refusal(const ReserveRequest& request, const std::vector<Interval>& asked,
                     const std::vector<Held>& held, Instant now);

// Whether waiting in line may help: none of it is there to stay.
bool WillPass(const std::vector<Held>& held);
// When the first of it ends by itself, if nobody renews.
std::optional<Instant> FirstEnd(const std::vector<Held>& held, Instant now);

}  // namespace interlock::lease
