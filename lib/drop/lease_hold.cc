#include "lib/drop/lease_hold.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/drop/drop_errors.h"
#include "lib/lease/loans.h"
#include "lib/lease/reservations.h"

namespace interlock::drop {
namespace {

constexpr int64_t kMostInTheWay = 1'000;

std::string LinkOf(const Drop& drop) { return absl::StrCat("drops/", drop.id); }

std::string PinPrefix(const Drop& drop) { return absl::StrCat(LinkOf(drop), "/"); }

std::string PinId(const Drop& drop, size_t interval) {
  return absl::StrCat(PinPrefix(drop), interval);
}

audit::Caller Own(const Drop& drop) {
  return {"interlock", "", absl::StrCat("goes on with ", drop.id)};
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
  request.link = LinkOf(drop);
  // What a stream without bounds writes late is no stranger to old data; it is found before
  // the kill, by its locks and by its segments.
  request.tails = lease::Tails::kAcceptUnbounded;
  return request;
}

Objection ObjectionOf(const lease::Held& held) {
  // A drop is no backfill: there is no correction of it.
  if (held.by == lease::HeldBy::kSeal) {
    return {held.reason, held.interval.ToString(),
            absl::StrCat(held.message,
                         "; a sealed interval is neither dropped nor brought back: "
                         "have an admin lift the seal (interlockctl seals unseal ",
                         absl::StripPrefix(held.link, "seals/"), " --reason TEXT --for 1h)")};
  }
  if (!held.reason.empty()) {
    return {held.reason, held.interval.ToString(),
            absl::StrCat(held.message, held.remedy.empty() ? "" : "; ", held.remedy)};
  }
  return {kHeld, held.interval.ToString(),
          absl::StrCat("held by ", held.holder,
                       held.purpose.empty() ? "" : absl::StrCat(" (", held.purpose, ")"), " until ",
                       held.orphaned ? "its work is settled" : held.until.ToString())};
}

bool MeansNotOurs(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status);
}

// What would go when the drop takes its time anew: its own reservation, and what its own
// calls have pinned. Neither a lender's reservation, nor the delay after an expiry.
bool GoesWithIt(const lease::Held& held, const Drop& drop) {
  if (held.reservation_id.empty() || held.reservation_id != drop.reservation_id) return false;
  if (held.orphaned) return absl::StartsWith(held.work_id, PinPrefix(drop));
  return held.by == lease::HeldBy::kReservation && !drop.lent;
}

// A lender renews its reservation itself, until it has handed it over.
absl::Status RenewOurs(store::Transaction& tx, const Drop& drop, absl::Duration ttl) {
  absl::StatusOr<lease::Reservation> now = lease::Get(tx, drop.reservation_id);
  if (!now.ok()) return now.status();
  if (drop.lent && !now->handed_over) return absl::OkStatus();
  if (now->deadline - tx.now() >= ttl / 2) return absl::OkStatus();
  return lease::Renew(tx, drop.reservation_id, drop.token, ttl, Own(drop)).status();
}

}  // namespace

std::string LeaseHolder(const Drop& drop) {
  return drop.holder.empty() ? drop.requested_by
                             : absl::StrCat(drop.requested_by, "/", drop.holder);
}

absl::StatusOr<bool> HoldsTime(store::Transaction& tx, const Drop& drop, absl::Duration ttl) {
  if (drop.reservation_id.empty()) return false;
  absl::Status status = CheckAll(tx, drop, drop.reservation_id, drop.token);
  if (status.ok()) status = RenewOurs(tx, drop, ttl);
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
    if (!GoesWithIt(one, drop)) others.push_back(ObjectionOf(one));
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
  absl::Status status = lease::Lend(tx, reservation_id, token, drop.datasource,
                                    {LinkOf(drop), drop.requested_by}, drop.intervals);
  if (!status.ok()) return status;
  drop.reservation_id = reservation_id;
  drop.token = token;
  drop.lent = true;
  return absl::OkStatus();
}

absl::Status BorrowAgain(store::Transaction& tx, const Drop& drop) {
  if (!drop.lent) return absl::OkStatus();
  return lease::Lend(tx, drop.reservation_id, drop.token, drop.datasource,
                     {LinkOf(drop), drop.requested_by}, drop.intervals);
}

absl::StatusOr<std::optional<Force>> TakenByForce(store::Transaction& tx, const Drop& drop) {
  if (drop.reservation_id.empty()) return std::nullopt;
  absl::StatusOr<lease::Reservation> now = lease::Get(tx, drop.reservation_id);
  if (absl::IsNotFound(now.status())) return std::nullopt;
  if (!now.ok()) return now.status();
  if (now->forced_by.empty()) return std::nullopt;
  return Force{now->forced_by, now->force_reason};
}

absl::Status PinTime(store::Transaction& tx, const Drop& drop) {
  for (size_t i = 0; i < drop.intervals.size(); ++i) {
    lease::Pin pin;
    pin.work_id = PinId(drop, i);
    pin.interval = drop.intervals[i];
    pin.link = LinkOf(drop);
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
  if (drop.reservation_id.empty()) return absl::OkStatus();
  if (drop.lent) return lease::Return(tx, drop.reservation_id, LinkOf(drop), caller);
  absl::Status status = lease::Release(tx, drop.reservation_id, drop.token, caller).status();
  // One that ended by itself needs no release.
  if (MeansNotOurs(status)) status = absl::OkStatus();
  drop.reservation_id.clear();
  drop.token = 0;
  drop.lent = false;
  return status;
}

}  // namespace interlock::drop
