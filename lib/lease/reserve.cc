#include <optional>
#include <utility>

#include "lib/audit/audit.h"
#include "lib/lease/decide.h"
#include "lib/lease/ended.h"
#include "lib/lease/events.h"
#include "lib/lease/in_the_way.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/live_counts.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/packed.h"
#include "lib/lease/request.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

// Holders looked up for one refusal, and with skip_held, where all are needed, for one
// grant: beyond it the request is refused.
constexpr int64_t kMostHeld = 1000;
constexpr int64_t kMostSkipped = 100'000;

absl::Status RecordGrant(store::Transaction& tx, const Reservation& reservation,
                         const std::vector<Held>& skipped, const audit::Caller& caller) {
  return audit::Record(tx, {caller, "ReserveInterval", reservation.datasource, reservation.id, "OK",
                            "", DescribeGrant(reservation, skipped)});
}

absl::StatusOr<Grant> Insert(store::Transaction& tx, DatasourceRow datasource,
                             const ReserveRequest& request, std::vector<Interval> intervals,
                             std::vector<Held> skipped, const audit::Caller& caller,
                             const Limits& limits) {
  absl::Status status = TakeToken(tx, datasource, request.mode, intervals);
  if (status.ok())
    status = CountOneMore(tx, datasource.number, CountedFor(caller.identity, request.holder));
  if (!status.ok()) return status;
  Stored stored = NewStored(tx.now(), {datasource.number, datasource.token}, request, caller);
  stored.skipped = PackHeld(skipped);
  stored.lock_delay = limits.lock_delay;
  absl::StatusOr<int64_t> revision = Append(tx, stored.key, EventKind::kGranted, tx.now(),
                                            State::kActive, stored.reservation.deadline);
  if (!revision.ok()) return revision.status();
  stored.reservation.revision = *revision;
  status = InsertReservation(tx, stored);
  for (const Interval& interval : intervals) {
    if (status.ok()) status = InsertInterval(tx, stored.key, request.mode, {interval, true});
  }
  stored.reservation.intervals = std::move(intervals);
  if (status.ok()) status = RecordGrant(tx, stored.reservation, skipped, caller);
  if (!status.ok()) return status;
  return Grant{std::move(stored.reservation), std::move(skipped), false, std::nullopt};
}

// The answer of one that stays in line, at a new place or at its own.
absl::StatusOr<Grant> StayInLine(store::Transaction& tx, const DatasourceRow& datasource,
                                 const ReserveRequest& request, const audit::Caller& caller,
                                 std::optional<Waiter> waiter, const std::vector<Held>& held,
                                 absl::Status why) {
  if (!waiter) {
    absl::StatusOr<Waiter> place = Enqueue(tx, datasource, request, caller);
    if (!place.ok()) return place.status();
    waiter = *std::move(place);
  }
  absl::StatusOr<Reservation> reservation = CompleteWaiter(tx, *waiter);
  if (!reservation.ok()) return reservation.status();
  Grant grant;
  grant.reservation = *std::move(reservation);
  grant.waiting = Waiting{grant.reservation.id,     waiter->turn,   waiter->reservation.deadline,
                          FirstEnd(held, tx.now()), std::move(why), false};
  return grant;
}

// The answer of one that had a place and can't be granted by waiting on: it is gone.
absl::StatusOr<Grant> LeaveLine(store::Transaction& tx, const Waiter& waiter, absl::Status why) {
  absl::StatusOr<Reservation> reservation = CompleteWaiter(tx, waiter);
  if (!reservation.ok()) return reservation.status();
  absl::Status status = Leave(tx, waiter, true);
  if (!status.ok()) return status;
  Grant grant;
  grant.reservation = *std::move(reservation);
  grant.waiting = Waiting{grant.reservation.id, waiter.turn,    waiter.reservation.deadline,
                          std::nullopt,         std::move(why), true};
  return grant;
}

// What is free of `asked`, by the request's rule: all, or what others don't have.
std::vector<Interval> Free(const ReserveRequest& request, const std::vector<Interval>& asked,
                           const InTheWay& found) {
  if (found.held.empty()) return asked;
  return request.skip_held && found.all ? WithoutHeld(request, asked, found.held)
                                        : std::vector<Interval>();
}

// The answer to an earlier request with this id, where there is one. An id that is not kept
// any more is forgotten, where that can be written down.
absl::StatusOr<std::optional<Grant>> Repeat(store::Transaction& tx, const ReserveRequest& request,
                                            const Limits& limits, bool forget) {
  if (request.request_id.empty()) return std::nullopt;
  absl::StatusOr<std::optional<Stored>> earlier =
      FindByRequest(tx, request.holder, request.request_id);
  if (!earlier.ok()) return earlier.status();
  if (!earlier->has_value()) return std::nullopt;
  absl::StatusOr<Reservation> reservation = Complete(tx, **earlier);
  if (!reservation.ok()) return reservation.status();
  if (reservation->state != State::kActive && reservation->state != State::kOrphaned &&
      tx.now() - *reservation->ended > limits.request_id_kept) {
    absl::Status status = forget ? ForgetRequestId(tx, (*earlier)->key) : absl::OkStatus();
    if (!status.ok()) return status;
    return std::nullopt;
  }
  const std::vector<std::string> differences =
      Differences((*earlier)->request, FingerprintOf(request));
  if (!differences.empty()) {
    return RequestIdReused(request.request_id, reservation->id, differences);
  }
  if (reservation->state != State::kActive) return WhyEnded(tx, **earlier, Act::kRenew);
  return Grant{*std::move(reservation), UnpackHeld((*earlier)->skipped), true, std::nullopt};
}

// The place in line that an earlier call with this id took, where there is one.
absl::StatusOr<std::optional<Waiter>> OwnPlace(store::Transaction& tx,
                                               const ReserveRequest& request) {
  if (request.request_id.empty()) return std::nullopt;
  absl::StatusOr<std::optional<Waiter>> waiter =
      FindWaiterByRequest(tx, request.holder, request.request_id);
  if (!waiter.ok() || !waiter->has_value()) return waiter;
  const std::vector<std::string> differences =
      Differences((*waiter)->request, FingerprintOf(request));
  if (!differences.empty()) {
    return RequestIdReused(request.request_id, (*waiter)->reservation.id, differences);
  }
  // It does not wait itself: the place stays the earlier call's, and stands in its way.
  if (request.wait <= absl::ZeroDuration()) return std::nullopt;
  Waiter& place = **waiter;
  // Waits as long as this call says from now on; the earlier one is told to stop.
  place.reservation.deadline = tx.now() + request.wait;
  absl::Status status = TakePlace(tx, place, place.turn + 1);
  if (!status.ok()) return status;
  return waiter;
}

}  // namespace

absl::StatusOr<Grant> Decide(store::Transaction& tx, const DatasourceRow& datasource,
                             const ReserveRequest& request, const std::optional<Waiter>& waiter,
                             const audit::Caller& caller, const Limits& limits) {
  absl::Status status =
      CheckLive(tx, datasource, request, CountedFor(caller.identity, request.holder), limits,
                Lapsed::kCleared);
  if (absl::IsResourceExhausted(status) && waiter) return LeaveLine(tx, *waiter, std::move(status));
  if (!status.ok()) return status;
  const std::vector<Interval> asked = Condense(request.intervals);
  absl::StatusOr<InTheWay> found =
      FindInTheWay(tx, datasource, request, asked, waiter ? waiter->key.token : kNoPlace,
                   request.skip_held ? kMostSkipped : kMostHeld, limits);
  if (!found.ok()) return found.status();
  std::vector<Interval> free = Free(request, asked, *found);
  if (free.empty()) {
    absl::Status why = Refusal(request, asked, found->held, tx.now());
    const bool waits = (waiter || request.wait > absl::ZeroDuration()) && WillPass(found->held);
    if (waiter && !waits) return LeaveLine(tx, *waiter, std::move(why));
    if (!waits) return why;
    return StayInLine(tx, datasource, request, caller, waiter, found->held, std::move(why));
  }
  for (const Key& lapsed : found->lapsed) {
    status = Clear(tx, lapsed);
    if (!status.ok()) return status;
  }
  if (waiter) status = Leave(tx, *waiter, false);
  if (!status.ok()) return status;
  return Insert(tx, datasource, request, std::move(free), LeftOut(request, asked, found->held),
                caller, limits);
}

absl::StatusOr<Grant> Reserve(store::Transaction& tx, const ReserveRequest& request,
                              const audit::Caller& caller, const Limits& limits) {
  absl::Status status = CheckRequest(request, limits);
  if (!status.ok()) return status;
  absl::StatusOr<DatasourceRow> datasource = LockDatasource(tx, request.datasource);
  if (!datasource.ok()) return datasource.status();
  absl::StatusOr<std::optional<Grant>> repeated = Repeat(tx, request, limits, true);
  if (!repeated.ok()) return repeated.status();
  if (repeated->has_value()) return **std::move(repeated);
  absl::StatusOr<std::optional<Waiter>> place = OwnPlace(tx, request);
  if (!place.ok()) return place.status();
  return Decide(tx, *datasource, request, *place, caller, limits);
}

absl::StatusOr<std::vector<Held>> FindHeld(store::Transaction& tx, const ReserveRequest& request,
                                           int64_t most, const Limits& limits) {
  absl::StatusOr<std::optional<DatasourceRow>> row = FindDatasource(tx, request.datasource);
  if (!row.ok()) return row.status();
  absl::StatusOr<InTheWay> found =
      FindInTheWay(tx, row->value_or(DatasourceRow{}), request, Condense(request.intervals),
                   kNoPlace, most, limits);
  if (!found.ok()) return found.status();
  return std::move(found->held);
}

absl::StatusOr<std::vector<Held>> FindHeld(store::Transaction& tx, const std::string& datasource,
                                           Mode mode, const std::vector<Interval>& intervals,
                                           int64_t most, const Limits& limits) {
  ReserveRequest request;
  request.datasource = datasource;
  request.mode = mode;
  request.intervals = intervals;
  return FindHeld(tx, request, most, limits);
}

absl::StatusOr<Grant> Plan(store::Transaction& tx, const ReserveRequest& request,
                           const Limits& limits) {
  absl::Status status = CheckRequest(request, limits);
  if (!status.ok()) return status;
  absl::StatusOr<std::optional<Grant>> repeated = Repeat(tx, request, limits, false);
  if (!repeated.ok()) return repeated.status();
  if (repeated->has_value()) return **std::move(repeated);
  absl::StatusOr<std::optional<DatasourceRow>> row = FindDatasource(tx, request.datasource);
  if (!row.ok()) return row.status();
  const std::vector<Interval> asked = Condense(request.intervals);
  absl::StatusOr<InTheWay> found =
      FindInTheWay(tx, row->value_or(DatasourceRow{}), request, asked, kNoPlace,
                   request.skip_held ? kMostSkipped : kMostHeld, limits);
  if (!found.ok()) return found.status();
  Grant grant;
  grant.reservation = NewStored(tx.now(), Key{}, request, {}).reservation;
  grant.reservation.id.clear();
  grant.reservation.intervals = Free(request, asked, *found);
  grant.skipped = request.skip_held ? LeftOut(request, asked, found->held) : std::move(found->held);
  return grant;
}

absl::StatusOr<std::vector<Held>> FindOthers(store::Transaction& tx, const std::string& datasource,
                                             const std::vector<Interval>& intervals,
                                             const Limits& limits) {
  absl::StatusOr<std::optional<DatasourceRow>> row = FindDatasource(tx, datasource);
  if (!row.ok()) return row.status();
  ReserveRequest request;
  request.datasource = datasource;
  return FindBarriers(tx, row->value_or(DatasourceRow{}), request, Condense(intervals), limits);
}

}  // namespace interlock::lease
