#include "lib/lease/waiting.h"

#include <utility>

#include "lib/audit/audit.h"
#include "lib/lease/decide.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/reservations.h"

namespace interlock::lease {
namespace {

// Who ended the wait, and why, is in the audit: the place itself is gone. Looked for among what
// is young, since whoever holds the call comes by every kWaitAgain.
absl::Status WhyGone(store::Transaction& tx, const std::string& datasource,
                     const std::string& place) {
  audit::Filter filter;
  filter.datasource = datasource;
  filter.subject = place;
  filter.method = "*ReleaseReservation";
  filter.since = tx.now() - kWaiterAlive;
  audit::Page newest;
  newest.size = 1;
  absl::StatusOr<audit::Events> ended = audit::List(tx, filter, newest);
  if (!ended.ok()) return ended.status();
  if (ended->events.empty()) return WaitEnded(place, "", "");
  const audit::Caller& who = ended->events.front().event.caller;
  return WaitEnded(place, who.identity, who.reason);
}

absl::StatusOr<Waiter> PlaceOf(store::Transaction& tx, const std::string& datasource,
                               const Waiting& place) {
  const std::optional<Key> key = WaiterKeyOf(place.id);
  if (!key) return WaitEnded(place.id, "", "");
  absl::StatusOr<std::optional<Waiter>> waiter = FindWaiter(tx, *key);
  if (!waiter.ok()) return waiter.status();
  if (!waiter->has_value()) return WhyGone(tx, datasource, place.id);
  if ((*waiter)->turn != place.turn) return WaitTakenOver(place.id);
  return **std::move(waiter);
}

}  // namespace

absl::StatusOr<Grant> WaitOn(store::Transaction& tx, const ReserveRequest& request,
                             const Waiting& place, const audit::Caller& caller,
                             const Limits& limits) {
  absl::StatusOr<DatasourceRow> datasource = LockDatasource(tx, request.datasource);
  if (!datasource.ok()) return datasource.status();
  absl::StatusOr<Waiter> waiter = PlaceOf(tx, request.datasource, place);
  if (!waiter.ok()) return waiter.status();
  absl::Status status = TakePlace(tx, *waiter, waiter->turn);
  if (!status.ok()) return status;
  absl::StatusOr<Grant> grant = Decide(tx, *datasource, request, *waiter, caller, limits);
  if (!grant.ok() || !grant->waiting || grant->waiting->over || tx.now() < grant->waiting->until) {
    return grant;
  }
  status = Leave(tx, *waiter, true);
  if (!status.ok()) return status;
  grant->waiting->over = true;
  return grant;
}

absl::Status GiveUp(store::Transaction& tx, const Waiting& place) {
  const std::optional<Key> key = WaiterKeyOf(place.id);
  if (!key) return absl::OkStatus();
  absl::Status status = LockDatasource(tx, key->datasource).status();
  if (!status.ok()) return status;
  absl::StatusOr<std::optional<Waiter>> waiter = FindWaiter(tx, *key);
  if (!waiter.ok()) return waiter.status();
  const bool ours = waiter->has_value() && (*waiter)->turn == place.turn;
  return ours ? Leave(tx, **waiter, true) : absl::OkStatus();
}

}  // namespace interlock::lease
