#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/audit/audit.h"
#include "lib/lease/ended.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/request.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"
#include "lib/lease/text_list.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

// Holders looked up for one refusal, and with skip_held, where all are needed, for one
// grant: beyond it the request is refused.
constexpr int64_t kMostHeld = 1000;
constexpr int64_t kMostSkipped = 100'000;

absl::Status CheckLive(store::Transaction& tx, const DatasourceRow& datasource,
                       const ReserveRequest& request, const Limits& limits) {
  if (limits.live_per_holder > 0) {
    absl::StatusOr<store::Rows> count = tx.Query(
        "SELECT COUNT(*) FROM (SELECT 1 FROM lease_reservation WHERE live = 1"
        " AND datasource = :datasource AND holder = :holder AND deadline_ms > :now"
        " LIMIT :limit) AS live",
        {datasource.number, request.holder, tx.now(), limits.live_per_holder});
    if (!count.ok()) return count.status();
    if (count->front().Int(0) >= limits.live_per_holder) {
      return TooManyLive("live_per_holder", limits.live_per_holder,
                         absl::StrCat(request.holder, " in ", request.datasource));
    }
  }
  if (limits.live_per_datasource > 0) {
    absl::StatusOr<store::Rows> count = tx.Query(
        "SELECT COUNT(*) FROM (SELECT 1 FROM lease_reservation WHERE live = 1"
        " AND datasource = :datasource AND deadline_ms > :now LIMIT :limit) AS live",
        {datasource.number, tx.now(), limits.live_per_datasource});
    if (!count.ok()) return count.status();
    if (count->front().Int(0) >= limits.live_per_datasource) {
      return TooManyLive("live_per_datasource", limits.live_per_datasource, request.datasource);
    }
  }
  return absl::OkStatus();
}

// What is left of `asked` without what others have, in whole partitions where it matters.
std::vector<Interval> WithoutHeld(const ReserveRequest& request, const std::vector<Interval>& asked,
                                  const std::vector<Held>& held) {
  std::vector<Interval> taken;
  for (const Held& piece : held) {
    taken.push_back(request.partitions.has_value() ? request.partitions->Widen(piece.interval)
                                                   : piece.interval);
  }
  return Subtract(asked, Condense(std::move(taken)));
}

absl::Status RecordGrant(store::Transaction& tx, const Reservation& reservation,
                         const std::vector<Held>& skipped, const audit::Caller& caller) {
  return audit::Record(tx, {caller, "ReserveInterval", reservation.datasource, reservation.id, "OK",
                            "", DescribeGrant(reservation, skipped)});
}

absl::StatusOr<Grant> Insert(store::Transaction& tx, DatasourceRow datasource,
                             const ReserveRequest& request, std::vector<Interval> intervals,
                             std::vector<Held> skipped, const audit::Caller& caller) {
  absl::Status status = TakeToken(tx, datasource, request.mode);
  if (!status.ok()) return status;
  Stored stored = NewStored(tx.now(), {datasource.number, datasource.token}, request, caller);
  stored.skipped = PackHeld(skipped);
  status = InsertReservation(tx, stored);
  for (const Interval& interval : intervals) {
    if (status.ok()) status = InsertInterval(tx, stored.key, request.mode, {interval, true});
  }
  stored.reservation.intervals = std::move(intervals);
  if (status.ok()) status = RecordGrant(tx, stored.reservation, skipped, caller);
  if (!status.ok()) return status;
  return Grant{std::move(stored.reservation), std::move(skipped), false};
}

absl::StatusOr<Grant> Decide(store::Transaction& tx, const DatasourceRow& datasource,
                             const ReserveRequest& request, const audit::Caller& caller,
                             const Limits& limits) {
  absl::Status status = CheckLive(tx, datasource, request, limits);
  if (!status.ok()) return status;
  const std::vector<Interval> asked = Condense(request.intervals);
  const int64_t most = request.skip_held ? kMostSkipped : kMostHeld;
  absl::StatusOr<Overlaps> overlaps = FindOverlaps(tx, datasource, request.mode, asked, most);
  if (!overlaps.ok()) return overlaps.status();
  std::vector<Held>& held = overlaps->held;
  std::vector<Interval> free = asked;
  if (!held.empty()) {
    const bool skip = request.skip_held && static_cast<int64_t>(held.size()) < most;
    free = skip ? WithoutHeld(request, asked, held) : std::vector<Interval>();
    if (free.empty()) return HeldError(request.datasource, held, tx.now());
  }
  for (const Key& lapsed : overlaps->lapsed) {
    status = Clear(tx, lapsed);
    if (!status.ok()) return status;
  }
  return Insert(tx, datasource, request, std::move(free), std::move(held), caller);
}

// The answer to an earlier request with this id, where there is one.
absl::StatusOr<std::optional<Grant>> Repeat(store::Transaction& tx, const ReserveRequest& request) {
  if (request.request_id.empty()) return std::nullopt;
  absl::StatusOr<std::optional<Stored>> earlier =
      FindByRequest(tx, request.holder, request.request_id);
  if (!earlier.ok()) return earlier.status();
  if (!earlier->has_value()) return std::nullopt;
  absl::StatusOr<Reservation> reservation = Complete(tx, **earlier);
  if (!reservation.ok()) return reservation.status();
  if (reservation->state != State::kActive && reservation->state != State::kOrphaned &&
      tx.now() - *reservation->ended > kRequestIdKept) {
    absl::Status status = ForgetRequestId(tx, (*earlier)->key);
    if (!status.ok()) return status;
    return std::nullopt;
  }
  const std::vector<std::string> differences =
      Differences((*earlier)->request, FingerprintOf(request));
  if (!differences.empty()) {
    return RequestIdReused(request.request_id, reservation->id, differences);
  }
  if (reservation->state != State::kActive) return WhyEnded(tx, **earlier, Act::kRenew);
  return Grant{*std::move(reservation), UnpackHeld((*earlier)->skipped), true};
}

}  // namespace

absl::StatusOr<Grant> Reserve(store::Transaction& tx, const ReserveRequest& request,
                              const audit::Caller& caller, const Limits& limits) {
  absl::Status status = CheckRequest(request, limits);
  if (!status.ok()) return status;
  absl::StatusOr<std::optional<Grant>> repeated = Repeat(tx, request);
  if (!repeated.ok()) return repeated.status();
  if (repeated->has_value()) return **std::move(repeated);
  absl::StatusOr<DatasourceRow> datasource = LockDatasource(tx, request.datasource);
  if (!datasource.ok()) return datasource.status();
  return Decide(tx, *datasource, request, caller, limits);
}

absl::StatusOr<std::vector<Held>> FindHeld(store::Transaction& tx, const std::string& datasource,
                                           Mode mode, const std::vector<Interval>& intervals,
                                           int64_t most) {
  absl::StatusOr<std::optional<DatasourceRow>> row = FindDatasource(tx, datasource);
  if (!row.ok()) return row.status();
  if (!row->has_value()) return std::vector<Held>();
  absl::StatusOr<Overlaps> overlaps = FindOverlaps(tx, **row, mode, Condense(intervals), most);
  if (!overlaps.ok()) return overlaps.status();
  return std::move(overlaps->held);
}

}  // namespace interlock::lease
