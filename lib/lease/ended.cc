#include "lib/lease/ended.h"

#include <optional>
#include <utility>
#include <vector>

#include "lib/lease/lease_errors.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/waiting.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

struct Later {
  Held held;
  int64_t token = 0;
};

// A grant with a higher token over some of what this one was granted, that holds it now
// and would not have shared it.
absl::StatusOr<std::optional<Later>> LaterGrant(store::Transaction& tx, const Stored& stored,
                                                const Reservation& reservation) {
  constexpr int64_t kEnoughHeld = 100;
  absl::StatusOr<DatasourceRow> datasource = ReadDatasource(tx, stored.key.datasource);
  if (!datasource.ok()) return datasource.status();
  std::vector<Interval> granted = reservation.intervals;
  granted.insert(granted.end(), reservation.released.begin(), reservation.released.end());
  absl::StatusOr<Overlaps> overlaps =
      FindOverlaps(tx, *datasource, reservation.mode, Condense(std::move(granted)), kEnoughHeld);
  if (!overlaps.ok()) return overlaps.status();
  for (size_t i = 0; i < overlaps->held.size(); ++i) {
    if (overlaps->tokens[i] > stored.key.token && overlaps->held[i].by != HeldBy::kLockDelay) {
      return Later{overlaps->held[i], overlaps->tokens[i]};
    }
  }
  return std::nullopt;
}

}  // namespace

absl::Status WhyEnded(store::Transaction& tx, const Stored& stored, Act act) {
  absl::StatusOr<Reservation> reservation = Complete(tx, stored);
  if (!reservation.ok()) return reservation.status();
  // How it ended is of interest here, not that work under it still blocks.
  if (reservation->state == State::kOrphaned) {
    reservation->state =
        stored.reservation.state == State::kActive ? State::kExpired : stored.reservation.state;
  }
  absl::StatusOr<std::optional<Later>> later = LaterGrant(tx, stored, *reservation);
  if (!later.ok()) return later.status();
  if (!later->has_value()) return Ended(*reservation);
  return act == Act::kWrite ? StaleToken(*reservation, (*later)->held, (*later)->token)
                            : Superseded(*reservation, (*later)->held);
}

absl::StatusOr<Stored> FindWithToken(store::Transaction& tx, const std::string& id, int64_t token) {
  if (const std::optional<Key> place = WaiterKeyOf(id)) {
    absl::StatusOr<std::optional<Waiter>> waiter = FindWaiter(tx, *place);
    if (!waiter.ok()) return waiter.status();
    return waiter->has_value() ? StillWaiting((*waiter)->reservation) : UnknownReservation(id);
  }
  const std::optional<Key> key = KeyOf(id);
  if (!key.has_value()) return UnknownReservation(id);
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, *key);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return UnknownReservation(id);
  if (key->token != token) return ForeignToken((*stored)->reservation, token);
  return **std::move(stored);
}

absl::StatusOr<Stored> FindActive(store::Transaction& tx, const std::string& id, int64_t token,
                                  Act act) {
  absl::StatusOr<Stored> stored = FindWithToken(tx, id, token);
  if (!stored.ok() || IsActive(*stored, tx.now())) return stored;
  return WhyEnded(tx, *stored, act);
}

}  // namespace interlock::lease
