#include "lib/lease/tables.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/lease/text_list.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

// Statements must be literals; this is what those that read a reservation share.
#define SELECT_RESERVATION                                                                  \
  "SELECT r.datasource, r.token, r.live, r.mode, r.state, r.holder, r.purpose, r.reason,"   \
  " r.request_id, r.labels, r.request, r.skipped, r.created_ms, r.deadline_ms, r.ended_ms," \
  " d.name FROM lease_reservation r JOIN lease_datasource d ON d.number = r.datasource "

Labels LabelsOf(const std::string& joined) {
  const std::vector<std::string> texts = SplitTexts(joined);
  Labels labels;
  for (size_t i = 0; i + 1 < texts.size(); i += 2) labels[texts[i]] = texts[i + 1];
  return labels;
}

std::string Join(const Labels& labels) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : labels) {
    texts.push_back(name);
    texts.push_back(value);
  }
  return JoinTexts(texts);
}

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
  reservation.labels = LabelsOf(row.Text(9));
  stored.request = row.Text(10);
  stored.skipped = row.Text(11);
  reservation.created = row.At(12);
  reservation.deadline = row.At(13);
  reservation.ended = row.MaybeAt(14);
  reservation.datasource = row.Text(15);
  return stored;
}

std::optional<Stored> FirstOf(const store::Rows& rows) {
  return rows.empty() ? std::nullopt : std::optional<Stored>(FromRow(rows.front()));
}

absl::StatusOr<std::optional<DatasourceRow>> DatasourceOf(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  const store::Row& row = rows->front();
  return DatasourceRow{row.Int(0), row.Int(1), row.Flag(2)};
}

absl::StatusOr<Interval> IntervalOf(const store::Row& row, size_t column) {
  return Interval::Of(row.At(column), row.At(column + 1));
}

State StateAt(const Stored& stored, Instant now, bool has_pins) {
  if (IsActive(stored, now)) return State::kActive;
  if (stored.live && has_pins) return State::kOrphaned;
  const State state = stored.reservation.state;
  return state == State::kActive ? State::kExpired : state;
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
  return key;
}

absl::StatusOr<std::optional<DatasourceRow>> FindDatasource(store::Transaction& tx,
                                                            const std::string& name) {
  return DatasourceOf(tx.Query(
      "SELECT number, last_token, has_appends FROM lease_datasource WHERE name = :name", {name}));
}

absl::StatusOr<DatasourceRow> LockDatasource(store::Transaction& tx, const std::string& name) {
  absl::StatusOr<std::optional<DatasourceRow>> row = DatasourceOf(
      tx.Query("SELECT number, last_token, has_appends FROM lease_datasource WHERE name = :name"
               " {{for_update}}",
               {name}));
  if (row.ok() && !row->has_value()) {
    // A restored store's tokens start above all that were handed out before.
    row = DatasourceOf(
        tx.Query("INSERT INTO lease_datasource (name, last_token, has_appends) VALUES (:name,"
                 " COALESCE((SELECT number FROM store_facts WHERE name = 'token_floor'), 0), 0)"
                 " RETURNING number, last_token, has_appends",
                 {name}));
  }
  if (!row.ok()) return row.status();
  return **row;
}

absl::Status LockDatasource(store::Transaction& tx, int64_t number) {
  return tx
      .Query("SELECT number FROM lease_datasource WHERE number = :number {{for_update}}", {number})
      .status();
}

absl::Status TakeToken(store::Transaction& tx, DatasourceRow& row, Mode mode) {
  ++row.token;
  row.has_appends = row.has_appends || mode == Mode::kAppend;
  return tx
      .Execute(
          "UPDATE lease_datasource SET last_token = :token, has_appends = :has_appends"
          " WHERE number = :number",
          {row.token, row.has_appends, row.number})
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

absl::StatusOr<std::vector<IntervalRow>> IntervalsOf(store::Transaction& tx, const Key& key) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT start_ms, end_ms, live FROM lease_interval WHERE datasource = :datasource"
      " AND token = :token ORDER BY start_ms",
      {key.datasource, key.token});
  if (!rows.ok()) return rows.status();
  std::vector<IntervalRow> intervals;
  for (const store::Row& row : *rows) {
    absl::StatusOr<Interval> interval = IntervalOf(row, 0);
    if (!interval.ok()) return interval.status();
    intervals.push_back({*interval, row.Flag(2)});
  }
  return intervals;
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
          " purpose, reason, request_id, labels, request, skipped, created_ms, deadline_ms)"
          " VALUES (:datasource, :token, 1, :mode, 'ACTIVE', :holder, :purpose, :reason,"
          " :request_id, :labels, :request, :skipped, :created, :deadline)",
          {stored.key.datasource, stored.key.token, std::string(NameOf(reservation.mode)),
           reservation.holder, reservation.purpose, reservation.reason, request_id,
           Join(reservation.labels), stored.request, stored.skipped, reservation.created,
           reservation.deadline})
      .status();
}

absl::Status InsertInterval(store::Transaction& tx, const Key& key, Mode mode,
                            const IntervalRow& row) {
  return tx
      .Execute(
          "INSERT INTO lease_interval (datasource, token, start_ms, end_ms, mode, live)"
          " VALUES (:datasource, :token, :start, :end, :mode, :live)",
          {key.datasource, key.token, row.interval.start(), row.interval.end(),
           std::string(NameOf(mode)), row.live})
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

absl::Status SetDeadline(store::Transaction& tx, const Key& key, Instant deadline) {
  return tx
      .Execute(
          "UPDATE lease_reservation SET deadline_ms = :deadline"
          " WHERE datasource = :datasource AND token = :token",
          {deadline, key.datasource, key.token})
      .status();
}

absl::Status SetEnded(store::Transaction& tx, const Key& key, State state, Instant ended) {
  return tx
      .Execute(
          "UPDATE lease_reservation SET state = :state, ended_ms = :ended"
          " WHERE datasource = :datasource AND token = :token",
          {std::string(NameOf(state)), ended, key.datasource, key.token})
      .status();
}

namespace {

absl::Status EndAll(store::Transaction& tx, const Key& key) {
  absl::Status status = tx.Execute(
                              "UPDATE lease_interval SET live = 0 WHERE datasource = :datasource"
                              " AND token = :token AND live = 1",
                              {key.datasource, key.token})
                            .status();
  if (!status.ok()) return status;
  return tx
      .Execute(
          "UPDATE lease_reservation SET live = 0 WHERE datasource = :datasource"
          " AND token = :token",
          {key.datasource, key.token})
      .status();
}

// One live row cut along `kept`.
absl::Status Cut(store::Transaction& tx, const Stored& stored, const Interval& interval,
                 const std::vector<Interval>& kept) {
  absl::Status status = tx.Execute(
                              "DELETE FROM lease_interval WHERE datasource = :datasource"
                              " AND token = :token AND start_ms = :start",
                              {stored.key.datasource, stored.key.token, interval.start()})
                            .status();
  std::vector<IntervalRow> pieces;
  for (const Interval& piece : Intersect({interval}, kept)) pieces.push_back({piece, true});
  for (const Interval& piece : Subtract({interval}, kept)) pieces.push_back({piece, false});
  for (const IntervalRow& piece : pieces) {
    if (status.ok()) status = InsertInterval(tx, stored.key, stored.reservation.mode, piece);
  }
  return status;
}

}  // namespace

absl::Status KeepLive(store::Transaction& tx, const Stored& stored,
                      const std::vector<Interval>& kept) {
  if (kept.empty()) return EndAll(tx, stored.key);
  absl::StatusOr<std::vector<IntervalRow>> rows = IntervalsOf(tx, stored.key);
  if (!rows.ok()) return rows.status();
  for (const IntervalRow& row : *rows) {
    if (!row.live || Covers(kept, {row.interval})) continue;
    absl::Status status = Cut(tx, stored, row.interval, kept);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace interlock::lease
