// Renew, release, force: what becomes of a reservation after its grant.
#include <utility>

#include "absl/strings/str_join.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/lease/ended.h"
#include "lib/lease/events.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/loans.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/packed.h"
#include "lib/lease/request.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"
#include "lib/lease/waiting.h"
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

// The datasource's lock comes before anything that is decided on: on PostgreSQL another
// replica may be at it.
absl::Status LockFor(store::Transaction& tx, const std::string& id) {
  std::optional<Key> key = KeyOf(id);
  if (!key) key = WaiterKeyOf(id);
  return key ? LockDatasource(tx, key->datasource).status() : absl::OkStatus();
}

absl::Status CheckUnpinned(const Reservation& reservation, const std::vector<Interval>& intervals) {
  for (const Pin& pin : reservation.pins) {
    for (const Interval& interval : intervals) {
      if (pin.interval.Overlaps(interval)) return WorkUnsettled(reservation, pin);
    }
  }
  return absl::OkStatus();
}

// What it was granted, whatever it has given back since.
std::vector<Interval> GrantedTo(const Reservation& reservation) {
  std::vector<Interval> granted = reservation.intervals;
  granted.insert(granted.end(), reservation.released.begin(), reservation.released.end());
  return Condense(std::move(granted));
}

absl::StatusOr<Reservation> EndWait(store::Transaction& tx, const Key& key, State state,
                                    const char* method, const audit::Caller& caller) {
  absl::StatusOr<std::optional<Waiter>> waiter = FindWaiter(tx, key);
  if (!waiter.ok()) return waiter.status();
  if (!waiter->has_value()) return UnknownReservation(WaiterIdOf(key));
  absl::StatusOr<Reservation> ended = CompleteWaiter(tx, **waiter);
  if (!ended.ok()) return ended;
  absl::Status status = Leave(tx, **waiter, true);
  ended->state = state;
  ended->ended = tx.now();
  if (state == State::kForced) {
    ended->forced_by = caller.identity;
    ended->force_reason = caller.reason;
  }
  if (status.ok()) {
    status = audit::Record(
        tx, {caller, method, ended->datasource, ended->id, "OK", "", StateJson(*ended)});
  }
  if (!status.ok()) return status;
  return ended;
}

}  // namespace

absl::StatusOr<Reservation> End(store::Transaction& tx, const Stored& stored, State state,
                                const char* method, const audit::Caller& caller) {
  absl::StatusOr<Reservation> before = Complete(tx, stored);
  if (!before.ok()) return before.status();
  const Instant ended = before->ended.value_or(tx.now());
  const bool orphaned = !before->pins.empty();
  const State seen = orphaned ? State::kOrphaned : state;
  absl::StatusOr<int64_t> revision = Append(tx, stored.key,
                                            orphaned                  ? EventKind::kOrphaned
                                            : state == State::kForced ? EventKind::kForced
                                                                      : EventKind::kReleased,
                                            tx.now(), seen, before->deadline);
  if (!revision.ok()) return revision.status();
  absl::Status status = SetEnded(tx, stored.key, state, ended, *revision);
  if (status.ok()) status = Clear(tx, stored.key);
  if (!status.ok()) return status;
  absl::StatusOr<Reservation> after = Reread(tx, stored.key);
  if (!after.ok()) return after;
  status = audit::Record(tx, {caller, method, after->datasource, after->id, "OK",
                              StateJson(*before), StateJson(*after)});
  if (!status.ok()) return status;
  return after;
}

absl::Status KeepPart(store::Transaction& tx, const Stored& stored,
                      const std::vector<Interval>& kept) {
  absl::Status status = KeepLive(tx, stored, kept);
  if (!status.ok()) return status;
  absl::StatusOr<int64_t> revision =
      Append(tx, stored.key, EventKind::kReleased, tx.now(), State::kActive,
             stored.reservation.deadline, PackIntervals(kept));
  return revision.ok() ? SetRevision(tx, stored.key, *revision) : revision.status();
}

absl::StatusOr<Reservation> Get(store::Transaction& tx, const std::string& id) {
  if (const std::optional<Key> waiter_key = WaiterKeyOf(id)) {
    absl::StatusOr<std::optional<Waiter>> waiter = FindWaiter(tx, *waiter_key);
    if (!waiter.ok()) return waiter.status();
    return waiter->has_value() ? CompleteWaiter(tx, **waiter) : UnknownReservation(id);
  }
  const std::optional<Key> key = KeyOf(id);
  if (!key.has_value()) return UnknownReservation(id);
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, *key);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return UnknownReservation(id);
  return Complete(tx, **stored);
}

absl::Status CheckHolder(store::Transaction& tx, const std::string& id,
                         const std::string& identity) {
  Reservation reservation;
  std::string holder;
  if (const std::optional<Key> waiter_key = WaiterKeyOf(id)) {
    absl::StatusOr<std::optional<Waiter>> waiter = FindWaiter(tx, *waiter_key);
    if (!waiter.ok()) return waiter.status();
    if (!waiter->has_value()) return UnknownReservation(id);
    reservation = (*waiter)->reservation;
    holder = (*waiter)->identity;
  } else {
    const std::optional<Key> key = KeyOf(id);
    if (!key.has_value()) return UnknownReservation(id);
    absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, *key);
    if (!stored.ok()) return stored.status();
    if (!stored->has_value()) return UnknownReservation(id);
    reservation = (*stored)->reservation;
    holder = (*stored)->identity;
  }
  // A row of an old version does not say who it was.
  const bool same = holder.empty() || holder == identity;
  return same ? absl::OkStatus() : NotTheHolder(reservation, identity);
}

absl::StatusOr<Reservation> Renew(store::Transaction& tx, const std::string& id, int64_t token,
                                  std::optional<absl::Duration> ttl, const audit::Caller& caller,
                                  const Limits& limits) {
  absl::Status status = ttl ? CheckTtl(*ttl, limits) : absl::OkStatus();
  if (status.ok()) status = LockFor(tx, id);
  if (!status.ok()) return status;
  absl::StatusOr<Stored> stored = FindActive(tx, id, token, Act::kRenew);
  if (!stored.ok()) return stored.status();
  absl::StatusOr<Reservation> renewed = Complete(tx, *stored);
  if (!renewed.ok()) return renewed;
  renewed->deadline = tx.now() + ttl.value_or(renewed->ttl);
  absl::StatusOr<int64_t> revision =
      Append(tx, stored->key, EventKind::kRenewed, tx.now(), State::kActive, renewed->deadline,
             renewed->released.empty() ? std::string() : PackIntervals(renewed->intervals));
  if (!revision.ok()) return revision.status();
  renewed->revision = *revision;
  status = SetDeadline(tx, stored->key, renewed->deadline, *revision);
  if (status.ok()) {
    status = audit::Record(
        tx, {caller, "RenewReservation", renewed->datasource, id, "OK",
             DeadlineJson(stored->reservation.deadline), DeadlineJson(renewed->deadline)});
  }
  if (!status.ok()) return status;
  return renewed;
}

absl::StatusOr<Reservation> Release(store::Transaction& tx, const std::string& id, int64_t token,
                                    const audit::Caller& caller) {
  absl::Status status = LockFor(tx, id);
  if (!status.ok()) return status;
  if (const std::optional<Key> waiter = WaiterKeyOf(id)) {
    return EndWait(tx, *waiter, State::kReleased, "ReleaseReservation", caller);
  }
  absl::StatusOr<Stored> stored = FindWithToken(tx, id, token);
  if (!stored.ok()) return stored.status();
  if (stored->reservation.state == State::kReleased) return Complete(tx, *stored);
  if (!IsActive(*stored, tx.now())) return WhyEnded(tx, *stored, Act::kRenew);
  if (stored->has_loans) {
    absl::StatusOr<std::vector<Loan>> loans = LoansOf(tx, stored->key);
    if (!loans.ok()) return loans.status();
    if (!loans->empty()) return HandOver(tx, *stored, *loans, caller);
  }
  return End(tx, *stored, State::kReleased, "ReleaseReservation", caller);
}

absl::StatusOr<Reservation> ReleaseIntervals(store::Transaction& tx, const std::string& id,
                                             int64_t token, const std::vector<Interval>& intervals,
                                             const audit::Caller& caller) {
  absl::Status status = LockFor(tx, id);
  if (!status.ok()) return status;
  absl::StatusOr<Stored> stored = FindWithToken(tx, id, token);
  if (!stored.ok()) return stored.status();
  absl::StatusOr<Reservation> before = Complete(tx, *stored);
  if (!before.ok()) return before.status();
  const std::vector<Interval> asked = Condense(intervals);
  const bool granted = Covers(GrantedTo(*before), asked);
  if (granted && stored->reservation.state == State::kReleased) return before;
  if (!IsActive(*stored, tx.now())) return WhyEnded(tx, *stored, Act::kRenew);
  // What it gave back before: the same call again, whose answer was lost.
  const std::vector<Interval> given_back = Subtract(asked, before->released);
  status = CheckUnpinned(*before, given_back);
  if (!status.ok()) return status;
  if (!granted) return OutsideReservation(*before, absl::StrJoin(Printed(asked), ", "));
  if (given_back.empty()) return before;
  const std::vector<Interval> kept = Subtract(before->intervals, given_back);
  if (kept.empty()) return End(tx, *stored, State::kReleased, "ReleaseReservation", caller);
  status = KeepPart(tx, *stored, kept);
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
  absl::Status status = LockFor(tx, id);
  if (!status.ok()) return status;
  if (const std::optional<Key> waiter = WaiterKeyOf(id)) {
    return EndWait(tx, *waiter, State::kForced, "ForceReleaseReservation", caller);
  }
  const std::optional<Key> key = KeyOf(id);
  if (!key.has_value()) return UnknownReservation(id);
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, *key);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return UnknownReservation(id);
  absl::StatusOr<Reservation> now = Complete(tx, **stored);
  if (!now.ok()) return now;
  const bool forced = (*stored)->reservation.state == State::kForced;
  // The same call again, whose answer was lost.
  if (forced && !caller.request_id.empty() && now->forced_by == caller.identity &&
      now->force_reason == caller.reason) {
    return now;
  }
  // One that has ended while work under it still blocks can be forced too: its work is to
  // be shut down.
  if (forced || (now->state != State::kActive && now->state != State::kOrphaned)) {
    return WhyEnded(tx, **stored, Act::kRenew);
  }
  status = SetForced(tx, *key, caller.identity, caller.reason);
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
