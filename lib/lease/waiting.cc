#include "lib/lease/waiting.h"

#include <utility>

#include "lib/lease/decide.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/reservations.h"

namespace interlock::lease {
namespace {

absl::StatusOr<Waiter> PlaceOf(store::Transaction& tx, const Waiting& place) {
  const std::optional<Key> key = WaiterKeyOf(place.id);
  if (!key) return WaitEnded(place.id);
  absl::StatusOr<std::optional<Waiter>> waiter = FindWaiter(tx, *key);
  if (!waiter.ok()) return waiter.status();
  if (!waiter->has_value()) return WaitEnded(place.id);
  if ((*waiter)->turn != place.turn) return WaitTakenOver(place.id);
  return **std::move(waiter);
}

}  // namespace

absl::StatusOr<Grant> WaitOn(store::Transaction& tx, const ReserveRequest& request,
                             const Waiting& place, const audit::Caller& caller,
                             const Limits& limits) {
  absl::StatusOr<DatasourceRow> datasource = LockDatasource(tx, request.datasource);
  if (!datasource.ok()) return datasource.status();
  absl::StatusOr<Waiter> waiter = PlaceOf(tx, place);
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
  absl::StatusOr<Waiter> waiter = PlaceOf(tx, place);
  if (absl::IsAborted(waiter.status())) return absl::OkStatus();
  return waiter.ok() ? Leave(tx, *waiter, true) : waiter.status();
}

}  // namespace interlock::lease
