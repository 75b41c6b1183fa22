// Waiting for what others hold, in line.
//
// A request that is asked to wait, and can't be granted, becomes a row with a number that
// rises in its datasource: its place in the line, the same for every replica. Later
// requests that overlap a waiter, in a mode that would not share, queue behind it or are
// refused as BEHIND_WAITER, so that a wide request is not starved by small ones; what is
// disjoint passes.
//
// A waiter stays by a heartbeat: each WaitOn moves it to kWaiterAlive ahead. One whose
// process died is passed over from then on. The same holder and request_id take their
// place again (also after a restart of the server, within that time); the earlier call is
// told WAIT_TAKEN_OVER.
//
// Threads: functions on a write transaction unless said otherwise. Whoever serves the call
// repeats WaitOn: when something has ended in the datasource, when `look` has come, and
// every kWaitAgain at least.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/audit/caller.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"

namespace interlock::lease {

inline constexpr absl::Duration kWaiterAlive = absl::Seconds(10);
inline constexpr absl::Duration kWaitAgain = absl::Seconds(2);

// Tries again at `place`: the grant; or the place, where it still waits; or the place with
// `over`, where its time is up: then it is gone, and `why` is the answer.
// Errors: WAIT_TAKEN_OVER, WAIT_ENDED (ABORTED): the place is another call's, or gone.
absl::StatusOr<Grant> WaitOn(store::Transaction& tx, const ReserveRequest& request,
                             const Waiting& place, const audit::Caller& caller,
                             const Limits& limits);

// The caller has gone: so does its place, unless another call has taken it.
absl::Status GiveUp(store::Transaction& tx, const Waiting& place);

// Removes the places of processes that died; bounded. How many.
absl::StatusOr<int64_t> SweepWaiters(store::Transaction& tx);

// Who waits, in line, WAITING, with position. What is empty does not filter; a holder
// stands for those below it, too. Any transaction.
absl::StatusOr<std::vector<Reservation>> ListWaiters(store::Transaction& tx,
                                                     const std::string& datasource,
                                                     const std::optional<Interval>& overlapping,
                                                     const std::string& holder, int64_t most);

// --- For lib/lease ------------------------------------------------------------------------

std::string WaiterIdOf(const Key& key);
std::optional<Key> WaiterKeyOf(absl::string_view id);

struct Waiter {
  Key key;  // its token is the place's number
  int64_t turn = 0;
  std::string identity;
  std::string request;  // the fingerprint
  Instant alive_until;
  Reservation reservation;  // WAITING; `deadline` is when it gives up
};
absl::StatusOr<std::optional<Waiter>> FindWaiter(store::Transaction& tx, const Key& key);
absl::StatusOr<std::optional<Waiter>> FindWaiterByRequest(store::Transaction& tx,
                                                          const std::string& holder,
                                                          const std::string& request_id);
// Its position is 1 and the number of those before it that it queues behind.
absl::StatusOr<Reservation> CompleteWaiter(store::Transaction& tx, const Waiter& waiter);

// What of `intervals` waiters with a number below `before` would not share, as kWaiter.
absl::StatusOr<std::vector<Held>> FindWaiters(store::Transaction& tx,
                                              const DatasourceRow& datasource, Mode mode,
                                              const std::vector<Interval>& intervals,
                                              int64_t before);

// A place at the end of the line.
absl::StatusOr<Waiter> Enqueue(store::Transaction& tx, const DatasourceRow& datasource,
                               const ReserveRequest& request, const audit::Caller& caller);
// Another call, or another heartbeat, of this place.
absl::Status TakePlace(store::Transaction& tx, Waiter& waiter, int64_t turn);
// The place is gone; `gave_up` where nothing was granted.
absl::Status Leave(store::Transaction& tx, const Waiter& waiter, bool gave_up);

// What the log keeps of a waiter.
Reservation WaiterOfDetail(const Key& key, const std::string& detail);

}  // namespace interlock::lease
