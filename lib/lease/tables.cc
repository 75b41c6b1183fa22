#include "lib/lease/tables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/lease/loans.h"
#include "lib/lease/packed.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

// Statements must be literals; this is what those that read a reservation share.
#define SELECT_RESERVATION                                                                  \
  "SELECT r.datasource, r.token, r.live, r.mode, r.state, r.holder, r.purpose, r.reason,"   \
  " r.request_id, r.labels, r.request, r.skipped, r.created_ms, r.deadline_ms, r.ended_ms," \
  " d.name, r.identity, r.ttl_ms, r.lock_delay_ms, r.calendar, r.link, r.has_loans,"        \
  " r.handed_over, r.forced_by, r.force_reason, r.revision"                                 \
  " FROM lease_reservation r JOIN lease_datasource d ON d.number = r.datasource "

#define DATASOURCE_COLUMNS                                          \
  "number, last_token, has_appends, longest_append_ms, live_count," \
  " has_waiters, has_tails, trimmed_revision"

Stored FromRow(const store::Row& row) {
  Stored stored;
  stored.key = {row.Int(0), row.Int(1)};
  stored.live = row.Flag(2);
  Reservation& reservation = stored.reservation;
  reservation.id = IdOf(stored.key);
  reservation.token = stored.key.token;
  reservation.mode = ModeOf(row.Text(3));
  reservation.state = StateOf(row.Text(4));
  reservation.holder = row.Text(5);
  reservation.purpose = row.Text(6);
  reservation.reason = row.Text(7);
  reservation.request_id = row.Text(8);
  reservation.labels = SplitLabels(row.Text(9));
  stored.request = row.Text(10);
  stored.skipped = row.Text(11);
  reservation.created = row.At(12);
  reservation.deadline = row.At(13);
  reservation.ended = row.MaybeAt(14);
  reservation.datasource = row.Text(15);
  stored.identity = row.Text(16);
  reservation.ttl = absl::Milliseconds(row.Int(17));
  stored.lock_delay = absl::Milliseconds(row.Int(18));
  reservation.calendar = CalendarOf(row.Text(19));
  if (!row.Text(20).empty()) reservation.links.push_back(row.Text(20));
  stored.has_loans = row.Flag(21);
  reservation.handed_over = row.Flag(22);
  reservation.forced_by = row.Text(23);
  reservation.force_reason = row.Text(24);
  reservation.revision = row.Int(25);
  return stored;
}

std::optional<Stored> FirstOf(const store::Rows& rows) {
  return rows.empty() ? std::nullopt : std::optional<Stored>(FromRow(rows.front()));
}

absl::StatusOr<std::optional<DatasourceRow>> DatasourceOf(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  const store::Row& row = rows->front();
  return DatasourceRow{row.Int(0), row.Int(1),  row.Flag(2), absl::Milliseconds(row.Int(3)),
                       row.Int(4), row.Flag(5), row.Flag(6), row.Int(7)};
}

absl::StatusOr<Interval> IntervalOf(const store::Row& row, size_t column) {
  return Interval::Of(row.At(column), row.At(column + 1));
}

State StateAt(const Stored& stored, Instant now, bool has_pins) {
  if (IsActive(stored, now)) return State::kActive;
  return stored.live && has_pins ? State::kOrphaned : EndOf(stored, now);
}

}  // namespace

std::string IdOf(const Key& key) { return absl::StrCat("r", key.datasource, "-", key.token); }

std::optional<Key> KeyOf(absl::string_view id) {
  if (id.empty() || id[0] != 'r') return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(id.substr(1), '-');
  Key key;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &key.datasource) ||
      !absl::SimpleAtoi(parts[1], &key.token)) {
    return std::nullopt;
  }
  // An id is spelled in one way alone: not r1-02, not r+1-2.
  return IdOf(key) == id ? std::optional<Key>(key) : std::nullopt;
}

absl::StatusOr<std::optional<DatasourceRow>> FindDatasource(store::Transaction& tx,
                                                            const std::string& name) {
  return DatasourceOf(
      tx.Query("SELECT " DATASOURCE_COLUMNS " FROM lease_datasource WHERE name = :name", {name}));
}

std::string LockOf(const std::string& datasource) { return absl::StrCat("lease/", datasource); }

absl::StatusOr<DatasourceRow> LockDatasource(store::Transaction& tx, const std::string& name) {
  absl::Status locked = tx.Lock(LockOf(name));
  if (!locked.ok()) return locked;
  absl::StatusOr<std::optional<DatasourceRow>> row = FindDatasource(tx, name);
  if (row.ok() && !row->has_value()) {
    // A restored store's tokens start above all that were handed out before.
    row = DatasourceOf(
        tx.Query("INSERT INTO lease_datasource (name, last_token, has_appends) VALUES (:name,"
                 " COALESCE((SELECT number FROM store_facts WHERE name = 'token_floor'), 0), 0)"
                 " RETURNING " DATASOURCE_COLUMNS,
                 {name}));
  }
  if (!row.ok()) return row.status();
  return **row;
}

absl::StatusOr<DatasourceRow> LockDatasource(store::Transaction& tx, int64_t number) {
  absl::StatusOr<store::Rows> name =
      tx.Query("SELECT name FROM lease_datasource WHERE number = :number", {number});
  if (!name.ok()) return name.status();
  if (name->empty()) return DatasourceRow{};
  return LockDatasource(tx, name->front().Text(0));
}

absl::StatusOr<DatasourceRow> ReadDatasource(store::Transaction& tx, int64_t number) {
  absl::StatusOr<std::optional<DatasourceRow>> row = DatasourceOf(tx.Query(
      "SELECT " DATASOURCE_COLUMNS " FROM lease_datasource WHERE number = :number", {number}));
  if (!row.ok()) return row.status();
  return row->value_or(DatasourceRow{});
}

absl::Status TakeToken(store::Transaction& tx, DatasourceRow& row, Mode mode,
                       const std::vector<Interval>& intervals) {
  ++row.token;
  if (mode == Mode::kAppend) {
    row.has_appends = true;
    for (const Interval& interval : intervals) {
      row.longest_append = std::max(row.longest_append, interval.length());
    }
  }
  return tx
      .Execute(
          "UPDATE lease_datasource SET last_token = :token, has_appends = :has_appends,"
          " longest_append_ms = :longest, live_count = live_count + 1 WHERE number = :number",
          {row.token, row.has_appends, absl::ToInt64Milliseconds(row.longest_append), row.number})
      .status();
}

absl::StatusOr<std::optional<Stored>> FindStored(store::Transaction& tx, const Key& key) {
  absl::StatusOr<store::Rows> rows =
      tx.Query(SELECT_RESERVATION "WHERE r.datasource = :datasource AND r.token = :token",
               {key.datasource, key.token});
  if (!rows.ok()) return rows.status();
  return FirstOf(*rows);
}

absl::StatusOr<std::optional<Stored>> FindByRequest(store::Transaction& tx,
                                                    const std::string& holder,
                                                    const std::string& request_id) {
  absl::StatusOr<store::Rows> rows =
      tx.Query(SELECT_RESERVATION "WHERE r.holder = :holder AND r.request_id = :request_id",
               {holder, request_id});
  if (!rows.ok()) return rows.status();
  return FirstOf(*rows);
}

absl::StatusOr<std::vector<Stored>> StoredAfter(store::Transaction& tx, int64_t datasource,
                                                const Key& after, int64_t most) {
  absl::StatusOr<store::Rows> rows =
      datasource != 0
          ? tx.Query(SELECT_RESERVATION
                     "WHERE r.datasource = :datasource AND r.token > :token"
                     " ORDER BY r.token LIMIT :most",
                     {datasource, after.datasource == datasource ? after.token : 0, most})
          : tx.Query(SELECT_RESERVATION
                     "WHERE (r.datasource, r.token) > (:datasource, :token)"
                     " ORDER BY r.datasource, r.token LIMIT :most",
                     {after.datasource, after.token, most});
  if (!rows.ok()) return rows.status();
  std::vector<Stored> page;
  for (const store::Row& row : *rows) page.push_back(FromRow(row));
  return page;
}

bool IsActive(const Stored& stored, Instant now) {
  return stored.live && stored.reservation.state == State::kActive &&
         now < stored.reservation.deadline;
}

State EndOf(const Stored& stored, Instant now) {
  const State state = stored.reservation.state;
  return state == State::kActive && !IsActive(stored, now) ? State::kExpired : state;
}

std::optional<Instant> DelayedUntil(const Stored& stored, Instant now) {
  if (!stored.live || EndOf(stored, now) != State::kExpired) return std::nullopt;
  const Instant until = stored.reservation.deadline + stored.lock_delay;
  return now < until ? std::optional<Instant>(until) : std::nullopt;
}

absl::StatusOr<std::vector<Pin>> PinsOf(store::Transaction& tx, const Key& key) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT work_id, start_ms, end_ms, link, since_ms FROM lease_pin"
      " WHERE datasource = :datasource AND token = :token ORDER BY start_ms, work_id",
      {key.datasource, key.token});
  if (!rows.ok()) return rows.status();
  std::vector<Pin> pins;
  for (const store::Row& row : *rows) {
    absl::StatusOr<Interval> interval = IntervalOf(row, 1);
    if (!interval.ok()) return interval.status();
    pins.push_back({row.Text(0), *interval, row.Text(3), row.At(4)});
  }
  return pins;
}

absl::StatusOr<Reservation> Complete(store::Transaction& tx, const Stored& stored) {
  Reservation reservation = stored.reservation;
  absl::StatusOr<std::vector<IntervalRow>> rows = IntervalsOf(tx, stored.key);
  if (!rows.ok()) return rows.status();
  absl::StatusOr<std::vector<Pin>> pins = PinsOf(tx, stored.key);
  if (!pins.ok()) return pins.status();
  reservation.pins = *std::move(pins);
  reservation.state = StateAt(stored, tx.now(), !reservation.pins.empty());
  if (stored.has_loans) {
    absl::StatusOr<std::vector<Loan>> loans = LoansOf(tx, stored.key);
    if (!loans.ok()) return loans.status();
    for (const Loan& loan : *loans) reservation.links.push_back(loan.link);
  }
  reservation.free = DelayedUntil(stored, tx.now());
  if (reservation.state != State::kActive && !reservation.ended) {
    reservation.ended = reservation.deadline;
  }
  std::vector<Interval> live, given_back;
  for (const IntervalRow& row : *rows) (row.live ? live : given_back).push_back(row.interval);
  reservation.intervals = Condense(std::move(live));
  reservation.released = Condense(std::move(given_back));
  // Nothing blocks any more: then what it was granted is of interest.
  if (!stored.live) reservation.intervals.swap(reservation.released);
  return reservation;
}

absl::Status InsertReservation(store::Transaction& tx, const Stored& stored) {
  const Reservation& reservation = stored.reservation;
  const store::Value request_id =
      reservation.request_id.empty() ? store::Value() : store::Value(reservation.request_id);
  return tx
      .Execute(
          "INSERT INTO lease_reservation (datasource, token, live, mode, state, holder,"
          " purpose, reason, request_id, labels, request, skipped, created_ms, deadline_ms,"
          " identity, ttl_ms, lock_delay_ms, calendar, link, revision)"
          " VALUES (:datasource, :token, 1, :mode, 'ACTIVE', :holder, :purpose, :reason,"
          " :request_id, :labels, :request, :skipped, :created, :deadline, :identity, :ttl,"
          " :lock_delay, :calendar, :link, :revision)",
          {stored.key.datasource, stored.key.token, std::string(NameOf(reservation.mode)),
           reservation.holder, reservation.purpose, reservation.reason, request_id,
           JoinLabels(reservation.labels), stored.request, stored.skipped, reservation.created,
           reservation.deadline, stored.identity, absl::ToInt64Milliseconds(reservation.ttl),
           absl::ToInt64Milliseconds(stored.lock_delay), PackCalendar(reservation.calendar),
           reservation.links.empty() ? std::string() : reservation.links.front(),
           reservation.revision})
      .status();
}

absl::Status ForgetRequestId(store::Transaction& tx, const Key& key) {
  return tx
      .Execute(
          "UPDATE lease_reservation SET request_id = NULL WHERE datasource = :datasource"
          " AND token = :token",
          {key.datasource, key.token})
      .status();
}

absl::Status SetDeadline(store::Transaction& tx, const Key& key, Instant deadline,
                         int64_t revision) {
  return tx
      .Execute(
          "UPDATE lease_reservation SET deadline_ms = :deadline, revision = :revision"
          " WHERE datasource = :datasource AND token = :token",
          {deadline, revision, key.datasource, key.token})
      .status();
}

absl::Status SetEnded(store::Transaction& tx, const Key& key, State state, Instant ended,
                      int64_t revision) {
  return tx
      .Execute(
          "UPDATE lease_reservation SET state = :state, ended_ms = :ended, revision = :revision"
          " WHERE datasource = :datasource AND token = :token",
          {std::string(NameOf(state)), ended, revision, key.datasource, key.token})
      .status();
}

absl::Status SetRevision(store::Transaction& tx, const Key& key, int64_t revision) {
  return tx
      .Execute(
          "UPDATE lease_reservation SET revision = :revision WHERE datasource = :datasource"
          " AND token = :token",
          {revision, key.datasource, key.token})
      .status();
}

absl::Status SetForced(store::Transaction& tx, const Key& key, const std::string& by,
                       const std::string& reason) {
  return tx
      .Execute(
          "UPDATE lease_reservation SET forced_by = :by, force_reason = :reason"
          " WHERE datasource = :datasource AND token = :token",
          {by, reason, key.datasource, key.token})
      .status();
}

}  // namespace interlock::lease
