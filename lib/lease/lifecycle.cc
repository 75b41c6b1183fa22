// Renew, release, force: what becomes of a reservation after its grant.
#include <utility>

#include "absl/strings/str_join.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/lease/ended.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/request.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

absl::StatusOr<Reservation> Reread(store::Transaction& tx, const Key& key) {
  return Get(tx, IdOf(key));
}

std::string DeadlineJson(Instant deadline) {
  return audit::JsonObject().Text("deadline", deadline.ToString()).ToString();
}

std::string StateJson(const Reservation& reservation) {
  return audit::JsonObject()
      .Text("state", NameOf(reservation.state))
      .Texts("intervals", Printed(reservation.intervals))
      .ToString();
}

absl::StatusOr<Reservation> End(store::Transaction& tx, const Stored& stored, State state,
                                const char* method, const audit::Caller& caller) {
  absl::StatusOr<Reservation> before = Complete(tx, stored);
  if (!before.ok()) return before.status();
  absl::Status status = SetEnded(tx, stored.key, state, tx.now());
  if (status.ok()) status = Clear(tx, stored.key);
  if (!status.ok()) return status;
  absl::StatusOr<Reservation> after = Reread(tx, stored.key);
  if (!after.ok()) return after;
  status = audit::Record(tx, {caller, method, after->datasource, after->id, "OK",
                              StateJson(*before), StateJson(*after)});
  if (!status.ok()) return status;
  return after;
}

absl::Status CheckUnpinned(const Reservation& reservation, const std::vector<Interval>& intervals) {
  for (const Pin& pin : reservation.pins) {
    for (const Interval& interval : intervals) {
      if (pin.interval.Overlaps(interval)) return WorkUnsettled(reservation, pin);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Reservation> Get(store::Transaction& tx, const std::string& id) {
  const std::optional<Key> key = KeyOf(id);
  if (!key.has_value()) return UnknownReservation(id);
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, *key);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return UnknownReservation(id);
  return Complete(tx, **stored);
}

absl::StatusOr<Reservation> Renew(store::Transaction& tx, const std::string& id, int64_t token,
                                  absl::Duration ttl, const audit::Caller& caller,
                                  const Limits& limits) {
  absl::Status status = CheckTtl(ttl, limits);
  if (!status.ok()) return status;
  absl::StatusOr<Stored> stored = FindActive(tx, id, token, Act::kRenew);
  if (!stored.ok()) return stored.status();
  const Instant deadline = tx.now() + ttl;
  status = LockDatasource(tx, stored->key.datasource);
  if (status.ok()) status = SetDeadline(tx, stored->key, deadline);
  if (status.ok()) {
    status =
        audit::Record(tx, {caller, "RenewReservation", stored->reservation.datasource, id, "OK",
                           DeadlineJson(stored->reservation.deadline), DeadlineJson(deadline)});
  }
  if (!status.ok()) return status;
  stored->reservation.deadline = deadline;
  return Complete(tx, *stored);
}

absl::StatusOr<Reservation> Release(store::Transaction& tx, const std::string& id, int64_t token,
                                    const audit::Caller& caller) {
  absl::StatusOr<Stored> stored = FindWithToken(tx, id, token);
  if (!stored.ok()) return stored.status();
  if (stored->reservation.state == State::kReleased) return Complete(tx, *stored);
  if (!IsActive(*stored, tx.now())) return WhyEnded(tx, *stored, Act::kRenew);
  absl::Status status = LockDatasource(tx, stored->key.datasource);
  if (!status.ok()) return status;
  return End(tx, *stored, State::kReleased, "ReleaseReservation", caller);
}

absl::StatusOr<Reservation> ReleaseIntervals(store::Transaction& tx, const std::string& id,
                                             int64_t token, const std::vector<Interval>& intervals,
                                             const audit::Caller& caller) {
  absl::StatusOr<Stored> stored = FindActive(tx, id, token, Act::kRenew);
  if (!stored.ok()) return stored.status();
  absl::StatusOr<Reservation> before = Complete(tx, *stored);
  if (!before.ok()) return before.status();
  const std::vector<Interval> given_back = Condense(intervals);
  absl::Status status = CheckUnpinned(*before, given_back);
  if (!status.ok()) return status;
  if (!Covers(before->intervals, given_back)) {
    return OutsideReservation(*before, absl::StrJoin(Printed(given_back), ", "));
  }
  status = LockDatasource(tx, stored->key.datasource);
  if (!status.ok()) return status;
  const std::vector<Interval> kept = Subtract(before->intervals, given_back);
  if (kept.empty()) return End(tx, *stored, State::kReleased, "ReleaseReservation", caller);
  status = KeepLive(tx, *stored, kept);
  if (!status.ok()) return status;
  absl::StatusOr<Reservation> after = Reread(tx, stored->key);
  if (!after.ok()) return after;
  status = audit::Record(tx, {caller, "ReleaseIntervals", after->datasource, id, "OK",
                              StateJson(*before), StateJson(*after)});
  if (!status.ok()) return status;
  return after;
}

absl::StatusOr<Reservation> ForceRelease(store::Transaction& tx, const std::string& id,
                                         const audit::Caller& caller) {
  if (caller.reason.empty()) return ReasonRequired("to end somebody's reservation");
  const std::optional<Key> key = KeyOf(id);
  if (!key.has_value()) return UnknownReservation(id);
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, *key);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return UnknownReservation(id);
  if (!IsActive(**stored, tx.now())) return WhyEnded(tx, **stored, Act::kRenew);
  absl::Status status = LockDatasource(tx, key->datasource);
  if (!status.ok()) return status;
  return End(tx, **stored, State::kForced, "ForceReleaseReservation", caller);
}

absl::Status CheckToken(store::Transaction& tx, const std::string& id, int64_t token,
                        const std::string& datasource, const Interval& interval) {
  absl::StatusOr<Stored> stored = FindActive(tx, id, token, Act::kWrite);
  if (!stored.ok()) return stored.status();
  absl::StatusOr<Reservation> reservation = Complete(tx, *stored);
  if (!reservation.ok()) return reservation.status();
  if (reservation->datasource != datasource || interval.empty() ||
      !Covers(reservation->intervals, {interval})) {
    return OutsideReservation(*reservation, datasource + " " + interval.ToString());
  }
  return absl::OkStatus();
}

}  // namespace interlock::lease
