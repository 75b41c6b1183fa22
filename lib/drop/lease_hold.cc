#include "lib/drop/lease_hold.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/drop_errors.h"
#include "lib/lease/reservations.h"

namespace interlock::drop {
namespace {

constexpr int64_t kMostInTheWay = 1'000;

std::string PinId(const Drop& drop, size_t interval) {
  return absl::StrCat("drops/", drop.id, "/", interval);
}

absl::Status CheckAll(store::Transaction& tx, const Drop& drop, const std::string& id,
                      int64_t token) {
  for (const Interval& interval : drop.intervals) {
    absl::Status status = lease::CheckToken(tx, id, token, drop.datasource, interval);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

lease::ReserveRequest RequestOf(const Drop& drop, const Options& options) {
  lease::ReserveRequest request;
  request.datasource = drop.datasource;
  request.intervals = drop.intervals;
  request.ttl = options.lease_ttl;
  request.holder = LeaseHolder(drop);
  request.purpose = absl::StrCat(drop.id, ": ", drop.reason).substr(0, 256);
  request.request_id = absl::StrCat(drop.id, "/", drop.reservations);
  request.link = absl::StrCat("drops/", drop.id);
  // What a stream without bounds writes late is no stranger to old data; it is found before
  // the kill, by its locks and by its segments.
  request.tails = lease::Tails::kAcceptUnbounded;
  return request;
}

Objection ObjectionOf(const lease::Held& held) {
  if (!held.reason.empty()) {
    return {held.reason, held.interval.ToString(),
            absl::StrCat(held.message, held.remedy.empty() ? "" : "; ", held.remedy)};
  }
  return {kHeld, held.interval.ToString(),
          absl::StrCat("held by ", held.holder, " (", held.purpose, ") until ",
                       held.orphaned ? "its work is settled" : held.until.ToString())};
}

bool MeansNotOurs(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status);
}

}  // namespace

std::string LeaseHolder(const Drop& drop) {
  return drop.holder.empty() ? drop.requested_by
                             : absl::StrCat(drop.requested_by, "/", drop.holder);
}

absl::StatusOr<bool> HoldsTime(store::Transaction& tx, const Drop& drop, absl::Duration ttl) {
  if (drop.reservation_id.empty()) return false;
  absl::Status status = CheckAll(tx, drop, drop.reservation_id, drop.token);
  if (status.ok() && !drop.lent) {
    absl::StatusOr<lease::Reservation> now = lease::Get(tx, drop.reservation_id);
    status = now.status();
    if (now.ok() && now->deadline - tx.now() < ttl / 2) {
      const audit::Caller own{"interlock", "", absl::StrCat("goes on with ", drop.id)};
      status = lease::Renew(tx, drop.reservation_id, drop.token, ttl, own).status();
    }
  }
  if (status.ok()) return true;
  if (MeansNotOurs(status)) return false;
  return status;
}

absl::StatusOr<std::vector<Objection>> InTheWay(store::Transaction& tx, const Drop& drop,
                                                const Options& options, int64_t most) {
  absl::StatusOr<std::vector<lease::Held>> held =
      lease::FindHeld(tx, RequestOf(drop, options), most, options.lease);
  if (!held.ok()) return held.status();
  std::vector<Objection> others;
  for (const lease::Held& one : *held) {
    const bool own = !one.reservation_id.empty() && one.reservation_id == drop.reservation_id;
    if (!own) others.push_back(ObjectionOf(one));
  }
  return others;
}

absl::Status TakeTime(store::Transaction& tx, Drop& drop, const Options& options,
                      const audit::Caller& caller) {
  // Before the pins are let go: a refusal must leave them as they are.
  absl::StatusOr<std::vector<Objection>> others = InTheWay(tx, drop, options, kMostInTheWay);
  if (!others.ok()) return others.status();
  if (!others->empty()) return Blocked(*others);
  absl::Status status = UnpinTime(tx, drop);
  if (status.ok()) status = LeaveTime(tx, drop, caller);
  if (!status.ok()) return status;
  absl::StatusOr<lease::Grant> grant =
      lease::Reserve(tx, RequestOf(drop, options), caller, options.lease);
  if (!grant.ok()) return grant.status();
  drop.reservation_id = grant->reservation.id;
  drop.token = grant->reservation.token;
  drop.lent = false;
  ++drop.reservations;
  return absl::OkStatus();
}

absl::Status BorrowTime(store::Transaction& tx, Drop& drop, const std::string& reservation_id,
                        int64_t token) {
  absl::Status status = CheckAll(tx, drop, reservation_id, token);
  if (!status.ok()) return status;
  drop.reservation_id = reservation_id;
  drop.token = token;
  drop.lent = true;
  return absl::OkStatus();
}

absl::Status PinTime(store::Transaction& tx, const Drop& drop) {
  for (size_t i = 0; i < drop.intervals.size(); ++i) {
    lease::Pin pin;
    pin.work_id = PinId(drop, i);
    pin.interval = drop.intervals[i];
    pin.link = absl::StrCat("drops/", drop.id);
    absl::Status status = lease::PinWork(tx, drop.reservation_id, drop.token, pin);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status UnpinTime(store::Transaction& tx, const Drop& drop) {
  for (size_t i = 0; i < drop.intervals.size(); ++i) {
    absl::Status status = lease::UnpinWork(tx, PinId(drop, i));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LeaveTime(store::Transaction& tx, Drop& drop, const audit::Caller& caller) {
  absl::Status status;
  if (!drop.reservation_id.empty() && !drop.lent) {
    status = lease::Release(tx, drop.reservation_id, drop.token, caller).status();
    // One that ended by itself needs no release.
    if (MeansNotOurs(status)) status = absl::OkStatus();
  }
  drop.reservation_id.clear();
  drop.token = 0;
  drop.lent = false;
  return status;
}

}  // namespace interlock::drop
