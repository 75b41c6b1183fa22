#include "lib/backfill/leases.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/backfill/rows.h"
#include "lib/backfill/tail_terms.h"
#include "lib/lease/loans.h"
#include "lib/lease/obstacle.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {
namespace {

constexpr size_t kMaxPurposeBytes = 256;

audit::Caller Own(const Backfill& backfill) {
  return {"interlock", "", absl::StrCat("goes on with ", backfill.id)};
}

std::string LinkOf(const Backfill& backfill) { return absl::StrCat("backfills/", backfill.id); }

std::string PinId(const std::string& task_id, size_t interval) {
  return interval == 0 ? task_id : absl::StrCat(task_id, "/", interval);
}

// The distinct reservations of units that are not over.
struct Lease {
  std::string id;
  int64_t token = 0;
};

absl::StatusOr<std::vector<Lease>> LeasesOf(store::Transaction& tx, const Backfill& backfill) {
  auto rows = tx.Query(
      "SELECT DISTINCT reservation_id, token FROM backfill_unit WHERE backfill_id = :id AND"
      " reservation_id <> '' AND state IN ('RESERVED', 'SUBMITTING', 'RUNNING', 'PROVING',"
      " 'UNDETERMINED', 'NOT_APPLIED')",
      {backfill.id});
  if (!rows.ok()) return rows.status();
  std::vector<Lease> leases;
  for (const store::Row& row : *rows) leases.push_back({row.Text(0), row.Int(1)});
  return leases;
}

// Units that are not submitted lose what they had; the others' time is pinned.
absl::Status LoseLease(store::Transaction& tx, const Backfill& backfill, const Lease& lease) {
  auto units = ReadUnits(tx, backfill.id, {State::kReserved, State::kNotApplied}, Instant::kMax,
                         false, std::numeric_limits<int32_t>::max());
  if (!units.ok()) return units.status();
  for (StoredUnit& unit : *units) {
    if (unit.reservation_id != lease.id) continue;
    unit.state = Next(unit.state, Seen::kLeaseLost).state;
    unit.reason = "LEASE_LOST";
    unit.message = absl::StrCat("reservation ", lease.id, " has ended");
    unit.reservation_id = "";
    unit.token = 0;
    unit.due = tx.now();
    absl::Status status = UpdateUnit(tx, unit);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// An admin has taken a reservation that units are under: the backfill is cancelled, which
// shuts its tasks down and proves what became of them; to take the time anew would undo
// what the admin did.
absl::Status HeedForce(store::Transaction& tx, Backfill& backfill) {
  if (backfill.cancel) return absl::OkStatus();
  auto leases = LeasesOf(tx, backfill);
  if (!leases.ok()) return leases.status();
  for (const Lease& lease : *leases) {
    absl::StatusOr<lease::Reservation> now = lease::Get(tx, lease.id);
    if (absl::IsNotFound(now.status())) continue;
    if (!now.ok()) return now.status();
    if (now->forced_by.empty()) continue;
    backfill.cancel = true;
    absl::Status status = SetWishes(tx, backfill);
    if (!status.ok()) return status;
    const audit::Caller own{
        "interlock", "",
        absl::StrCat(now->forced_by, " ended reservation ", lease.id, ": ", now->force_reason)};
    return audit::Record(tx,
                         {own, "CancelBackfill", backfill.datasource, backfill.id, "OK", "", ""});
  }
  return absl::OkStatus();
}

}  // namespace

std::string LeaseHolder(const Backfill& backfill) {
  return backfill.holder.empty() ? backfill.requested_by
                                 : absl::StrCat(backfill.requested_by, "/", backfill.holder);
}

absl::StatusOr<lease::Grant> TakeTime(store::Transaction& tx, Backfill& backfill,
                                      const std::vector<Interval>& intervals,
                                      const Options& options, const audit::Caller& caller) {
  lease::ReserveRequest request;
  request.datasource = backfill.datasource;
  request.intervals = intervals;
  request.ttl = options.lease_ttl;
  request.holder = LeaseHolder(backfill);
  request.purpose = backfill.purpose.substr(0, kMaxPurposeBytes);
  request.request_id = absl::StrCat(backfill.id, "/", backfill.reservations);
  request.link = LinkOf(backfill);
  auto leave = TailLeaveNow(tx, backfill.id, backfill.datasource);
  if (!leave.ok()) return leave.status();
  // What else streams may write there was looked for in this transaction (FindHeldWith).
  request.tails = TailsFor(*leave);
  request.skip_held = backfill.skip_held;
  if (backfill.skip_held) request.partitions = ParseGranularity(backfill.granularity_json);
  lease::Limits limits = options.lease_limits;
  limits.intervals_per_call = std::max<int64_t>(limits.intervals_per_call, kMaxPartitions);
  auto grant = lease::Reserve(tx, request, caller, limits);
  if (!grant.ok()) return grant.status();
  backfill.reservation_id = grant->reservation.id;
  backfill.token = grant->reservation.token;
  backfill.lent = false;
  ++backfill.reservations;
  backfill.renew = tx.now() + options.lease_ttl / 3;
  return grant;
}

absl::Status BorrowTime(store::Transaction& tx, Backfill& backfill) {
  absl::Status status =
      lease::Lend(tx, backfill.reservation_id, backfill.token, backfill.datasource,
                  {LinkOf(backfill), backfill.requested_by}, backfill.intervals);
  if (!status.ok()) return status;
  backfill.lent = true;
  backfill.renew = tx.now();  // it may be about to end
  return absl::OkStatus();
}

absl::Status ReturnTime(store::Transaction& tx, const Backfill& backfill) {
  if (!backfill.lent || backfill.reservation_id.empty()) return absl::OkStatus();
  return lease::Return(tx, backfill.reservation_id, LinkOf(backfill), Own(backfill));
}

absl::Status KeepTime(store::Transaction& tx, Backfill& backfill, const Options& options) {
  if (absl::Status status = HeedForce(tx, backfill); !status.ok()) return status;
  if (!backfill.renew || *backfill.renew > tx.now()) return absl::OkStatus();
  auto leases = LeasesOf(tx, backfill);
  if (!leases.ok()) return leases.status();
  for (const Lease& lease : *leases) {
    absl::StatusOr<lease::Reservation> now = lease::Get(tx, lease.id);
    absl::Status status = now.status();
    // A caller's own lease may be longer than ours would be.
    if (now.ok() && now->deadline < tx.now() + options.lease_ttl) {
      status = lease::Renew(tx, lease.id, lease.token, options.lease_ttl, Own(backfill),
                            options.lease_limits)
                   .status();
    }
    if (MeansLeaseLost(status)) status = LoseLease(tx, backfill, lease);
    if (!status.ok()) return status;
  }
  backfill.renew = tx.now() + options.lease_ttl / 3;
  return UpdateBackfill(tx, backfill);
}

absl::StatusOr<Instant> PinUnit(store::Transaction& tx, const std::string& datasource,
                                const StoredUnit& unit, const std::string& task_id,
                                const lease::Limits& limits) {
  if (limits.obstacles != nullptr) {
    auto barred =
        limits.obstacles->Find(tx, datasource, lease::Mode::kReplace, unit.unit.intervals);
    if (!barred.ok()) return barred.status();
    if (!barred->empty()) {
      const lease::Held& first = barred->front();
      return WithReason(absl::FailedPreconditionError(first.message), first.reason);
    }
  }
  for (size_t i = 0; i < unit.unit.intervals.size(); ++i) {
    lease::Pin pin;
    pin.work_id = PinId(task_id, i);
    pin.interval = unit.unit.intervals[i];
    pin.link = absl::StrCat("backfills/", unit.backfill_id, ", task ", task_id);
    absl::Status status = lease::PinWork(tx, unit.reservation_id, unit.token, pin);
    if (!status.ok()) return status;
  }
  auto reservation = lease::Get(tx, unit.reservation_id);
  if (!reservation.ok()) return reservation.status();
  return reservation->deadline;
}

absl::Status UnpinUnit(store::Transaction& tx, const StoredUnit& unit, const std::string& task_id) {
  for (size_t i = 0; i < unit.unit.intervals.size(); ++i) {
    absl::Status status = lease::UnpinWork(tx, PinId(task_id, i));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LeaveTime(store::Transaction& tx, const Backfill& backfill, const StoredUnit& unit) {
  if (unit.reservation_id.empty() || backfill.lent) return absl::OkStatus();
  absl::Status status = lease::ReleaseIntervals(tx, unit.reservation_id, unit.token,
                                                unit.unit.intervals, Own(backfill))
                            .status();
  return MeansLeaseLost(status) ? absl::OkStatus() : status;
}

bool MeansLeaseLost(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status);
}

}  // namespace interlock::backfill
