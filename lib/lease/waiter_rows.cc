// The rows behind waiting.h.
#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/lease/events.h"
#include "lib/lease/packed.h"
#include "lib/lease/request.h"
#include "lib/lease/waiting.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

#define SELECT_WAITER                                                                         \
  "SELECT w.datasource, w.number, w.turn, w.mode, w.identity, w.holder, w.purpose, w.reason," \
  " w.request_id, w.labels, w.request, w.calendar, w.ttl_ms, w.created_ms, w.until_ms,"       \
  " w.alive_until_ms, d.name FROM lease_waiter w"                                             \
  " JOIN lease_datasource d ON d.number = w.datasource "

constexpr size_t kDetailTexts = 5;

Waiter FromRow(const store::Row& row) {
  Waiter waiter;
  waiter.key = {row.Int(0), row.Int(1)};
  waiter.turn = row.Int(2);
  waiter.identity = row.Text(4);
  waiter.request = row.Text(10);
  waiter.alive_until = row.At(15);
  Reservation& reservation = waiter.reservation;
  reservation.id = WaiterIdOf(waiter.key);
  reservation.state = State::kWaiting;
  reservation.mode = ModeOf(row.Text(3));
  reservation.holder = row.Text(5);
  reservation.purpose = row.Text(6);
  reservation.reason = row.Text(7);
  reservation.request_id = row.Text(8);
  reservation.labels = SplitLabels(row.Text(9));
  reservation.calendar = CalendarOf(row.Text(11));
  reservation.ttl = absl::Milliseconds(row.Int(12));
  reservation.created = row.At(13);
  reservation.deadline = row.At(14);
  reservation.datasource = row.Text(16);
  return waiter;
}

absl::StatusOr<std::optional<Waiter>> FirstOf(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  return rows->empty() ? std::nullopt : std::optional<Waiter>(FromRow(rows->front()));
}

std::string DetailOf(const Reservation& waiter) {
  return JoinTexts({waiter.holder, waiter.purpose, std::string(NameOf(waiter.mode)),
                    PackIntervals(waiter.intervals), waiter.request_id});
}

absl::Status InsertWaiter(store::Transaction& tx, const Waiter& waiter) {
  const Reservation& r = waiter.reservation;
  absl::Status status =
      tx.Execute(
            "INSERT INTO lease_waiter (datasource, number, turn, mode, identity, holder, purpose,"
            " reason, request_id, labels, request, calendar, ttl_ms, created_ms, until_ms,"
            " alive_until_ms) VALUES (:datasource, :number, :turn, :mode, :identity, :holder,"
            " :purpose, :reason, :request_id, :labels, :request, :calendar, :ttl, :created,"
            " :until, :alive_until)",
            {waiter.key.datasource, waiter.key.token, waiter.turn, std::string(NameOf(r.mode)),
             waiter.identity, r.holder, r.purpose, r.reason,
             r.request_id.empty() ? store::Value() : store::Value(r.request_id),
             JoinLabels(r.labels), waiter.request, PackCalendar(r.calendar),
             absl::ToInt64Milliseconds(r.ttl), r.created, r.deadline, waiter.alive_until})
          .status();
  for (const Interval& interval : r.intervals) {
    if (!status.ok()) return status;
    status = tx.Execute(
                   "INSERT INTO lease_waiter_interval (datasource, number, start_ms, end_ms)"
                   " VALUES (:datasource, :number, :start, :end)",
                   {waiter.key.datasource, waiter.key.token, interval.start(), interval.end()})
                 .status();
  }
  return status;
}

absl::StatusOr<std::vector<Interval>> IntervalsOfWaiter(store::Transaction& tx, const Key& key) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT start_ms, end_ms FROM lease_waiter_interval WHERE datasource = :datasource"
      " AND number = :number ORDER BY start_ms",
      {key.datasource, key.token});
  if (!rows.ok()) return rows.status();
  std::vector<Interval> intervals;
  for (const store::Row& row : *rows) {
    intervals.push_back(Interval::Between(row.At(0), row.At(1)));
  }
  return intervals;
}

}  // namespace

std::string WaiterIdOf(const Key& key) { return absl::StrCat("w", key.datasource, "-", key.token); }

std::optional<Key> WaiterKeyOf(absl::string_view id) {
  if (id.empty() || id[0] != 'w') return std::nullopt;
  return KeyOf(absl::StrCat("r", id.substr(1)));
}

absl::StatusOr<std::optional<Waiter>> FindWaiter(store::Transaction& tx, const Key& key) {
  return FirstOf(tx.Query(SELECT_WAITER "WHERE w.datasource = :datasource AND w.number = :number",
                          {key.datasource, key.token}));
}

absl::StatusOr<std::optional<Waiter>> FindWaiterByRequest(store::Transaction& tx,
                                                          const std::string& holder,
                                                          const std::string& request_id) {
  return FirstOf(tx.Query(SELECT_WAITER "WHERE w.holder = :holder AND w.request_id = :request_id",
                          {holder, request_id}));
}

absl::StatusOr<Reservation> CompleteWaiter(store::Transaction& tx, const Waiter& waiter) {
  Reservation reservation = waiter.reservation;
  absl::StatusOr<std::vector<Interval>> intervals = IntervalsOfWaiter(tx, waiter.key);
  if (!intervals.ok()) return intervals.status();
  reservation.intervals = *std::move(intervals);
  DatasourceRow datasource;
  datasource.number = waiter.key.datasource;
  datasource.has_waiters = true;
  absl::StatusOr<std::vector<Held>> before =
      FindWaiters(tx, datasource, reservation.mode, reservation.intervals, waiter.key.token);
  if (!before.ok()) return before.status();
  std::vector<std::string> ids;
  for (const Held& held : *before) ids.push_back(held.reservation_id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  reservation.position = static_cast<int64_t>(ids.size()) + 1;
  return reservation;
}

absl::StatusOr<std::vector<Held>> FindWaiters(store::Transaction& tx,
                                              const DatasourceRow& datasource, Mode mode,
                                              const std::vector<Interval>& intervals,
                                              int64_t before) {
  std::vector<Held> found;
  if (!datasource.has_waiters || intervals.empty()) return found;
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT w.number, w.holder, w.purpose, w.mode, w.created_ms, w.until_ms, i.start_ms,"
      " i.end_ms FROM lease_waiter w JOIN lease_waiter_interval i"
      " ON i.datasource = w.datasource AND i.number = w.number"
      " WHERE w.datasource = :datasource AND w.number < :before AND w.alive_until_ms > :alive"
      " AND w.until_ms > :now AND i.start_ms < :end AND i.end_ms > :start"
      " ORDER BY w.number, i.start_ms",
      {datasource.number, before, tx.now(), tx.now(), intervals.back().end(),
       intervals.front().start()});
  if (!rows.ok()) return rows.status();
  for (const store::Row& row : *rows) {
    const Mode theirs = ModeOf(row.Text(3));
    if (mode == Mode::kAppend && theirs == Mode::kAppend) continue;
    const Interval wanted = Interval::Between(row.At(6), row.At(7));
    for (const Interval& piece : Intersect(intervals, {wanted})) {
      Held held;
      held.by = HeldBy::kWaiter;
      held.interval = piece;
      held.reservation_id = WaiterIdOf({datasource.number, row.Int(0)});
      held.holder = row.Text(1);
      held.purpose = row.Text(2);
      held.mode = theirs;
      held.since = row.At(4);
      held.until = row.At(5);
      found.push_back(std::move(held));
    }
  }
  return found;
}

absl::StatusOr<Waiter> Enqueue(store::Transaction& tx, const DatasourceRow& datasource,
                               const ReserveRequest& request, const audit::Caller& caller) {
  absl::StatusOr<store::Rows> number = tx.Query(
      "UPDATE lease_datasource SET last_waiter = last_waiter + 1, has_waiters = 1"
      " WHERE number = :number RETURNING last_waiter",
      {datasource.number});
  if (!number.ok()) return number.status();
  const Key key{datasource.number, number->front().Int(0)};
  const Stored stored = NewStored(tx.now(), key, request, caller);
  Waiter waiter;
  waiter.key = key;
  waiter.turn = 1;
  waiter.identity = caller.identity;
  waiter.request = stored.request;
  waiter.alive_until = tx.now() + kWaiterAlive;
  waiter.reservation = stored.reservation;
  waiter.reservation.id = WaiterIdOf(key);
  waiter.reservation.token = 0;
  waiter.reservation.state = State::kWaiting;
  waiter.reservation.deadline = tx.now() + request.wait;
  waiter.reservation.intervals = Condense(request.intervals);
  absl::Status status = InsertWaiter(tx, waiter);
  if (!status.ok()) return status;
  status = Append(tx, key, EventKind::kWaiting, tx.now(), State::kWaiting,
                  waiter.reservation.deadline, DetailOf(waiter.reservation))
               .status();
  if (!status.ok()) return status;
  return waiter;
}

absl::Status TakePlace(store::Transaction& tx, Waiter& waiter, int64_t turn) {
  waiter.turn = turn;
  waiter.alive_until = tx.now() + kWaiterAlive;
  return tx
      .Execute(
          "UPDATE lease_waiter SET turn = :turn, alive_until_ms = :alive_until,"
          " until_ms = :until WHERE datasource = :datasource AND number = :number",
          {turn, waiter.alive_until, waiter.reservation.deadline, waiter.key.datasource,
           waiter.key.token})
      .status();
}

absl::Status Leave(store::Transaction& tx, const Waiter& waiter, bool gave_up) {
  absl::StatusOr<std::vector<Interval>> intervals = IntervalsOfWaiter(tx, waiter.key);
  if (!intervals.ok()) return intervals.status();
  const std::vector<store::Value> place = {waiter.key.datasource, waiter.key.token};
  absl::Status status = tx.Execute(
                              "DELETE FROM lease_waiter_interval WHERE datasource = :datasource"
                              " AND number = :number",
                              place)
                            .status();
  if (status.ok()) {
    status = tx.Execute(
                   "DELETE FROM lease_waiter WHERE datasource = :datasource"
                   " AND number = :number",
                   place)
                 .status();
  }
  if (status.ok()) {
    status = tx.Execute(
                   "UPDATE lease_datasource SET has_waiters = (SELECT COUNT(*) FROM lease_waiter"
                   " WHERE datasource = :datasource) WHERE number = :number",
                   {waiter.key.datasource, waiter.key.datasource})
                 .status();
  }
  if (!status.ok() || !gave_up) return status;
  Reservation told = waiter.reservation;
  told.intervals = *std::move(intervals);
  return Append(tx, waiter.key, EventKind::kGaveUp, tx.now(), State::kWaiting, told.deadline,
                DetailOf(told))
      .status();
}

absl::StatusOr<int64_t> SweepWaiters(store::Transaction& tx) {
  constexpr int64_t kAtOnce = 200;
  absl::StatusOr<store::Rows> rows =
      tx.Query(SELECT_WAITER "WHERE w.alive_until_ms <= :now OR w.until_ms <= :over LIMIT :most",
               {tx.now() - kWaiterAlive, tx.now() - kWaiterAlive, kAtOnce});
  if (!rows.ok()) return rows.status();
  for (const store::Row& row : *rows) {
    const Waiter waiter = FromRow(row);
    absl::Status status = LockDatasource(tx, waiter.key.datasource).status();
    if (status.ok()) status = Leave(tx, waiter, true);
    if (!status.ok()) return status;
  }
  return static_cast<int64_t>(rows->size());
}

absl::StatusOr<std::vector<Reservation>> ListWaiters(store::Transaction& tx,
                                                     const std::string& datasource,
                                                     const std::optional<Interval>& overlapping,
                                                     const std::string& holder, int64_t most) {
  absl::StatusOr<store::Rows> rows =
      datasource.empty() ? tx.Query(SELECT_WAITER
                                    "WHERE w.alive_until_ms > :alive AND w.until_ms > :now"
                                    " ORDER BY w.datasource, w.number",
                                    {tx.now(), tx.now()})
                         : tx.Query(SELECT_WAITER
                                    "WHERE d.name = :name AND w.alive_until_ms > :alive"
                                    " AND w.until_ms > :now ORDER BY w.number",
                                    {datasource, tx.now(), tx.now()});
  if (!rows.ok()) return rows.status();
  std::vector<Reservation> waiting;
  for (const store::Row& row : *rows) {
    if (static_cast<int64_t>(waiting.size()) >= most) break;
    const Waiter waiter = FromRow(row);
    if (!IsAtOrBelow(waiter.reservation.holder, holder)) continue;
    absl::StatusOr<Reservation> reservation = CompleteWaiter(tx, waiter);
    if (!reservation.ok()) return reservation.status();
    if (overlapping && Intersect(reservation->intervals, {*overlapping}).empty()) continue;
    waiting.push_back(*std::move(reservation));
  }
  return waiting;
}

Reservation WaiterOfDetail(const Key& key, const std::string& detail) {
  Reservation waiter;
  waiter.id = WaiterIdOf(key);
  const std::vector<std::string> texts = SplitTexts(detail);
  if (texts.size() != kDetailTexts) return waiter;
  waiter.holder = texts[0];
  waiter.purpose = texts[1];
  waiter.mode = ModeOf(texts[2]);
  waiter.intervals = UnpackIntervals(texts[3]);
  waiter.request_id = texts[4];
  return waiter;
}

}  // namespace interlock::lease
