// Work under a reservation that may still write: it keeps its interval blocked, however
// the reservation ends.
#include <utility>

#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/lease/events.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"

namespace interlock::lease {
namespace {

struct PinRow {
  Key key;
  Interval interval;
  std::string link;
  std::string datasource;
};

absl::StatusOr<std::optional<PinRow>> FindPin(store::Transaction& tx, const std::string& work_id) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT p.datasource, p.token, p.start_ms, p.end_ms, p.link, d.name FROM lease_pin p"
      " JOIN lease_datasource d ON d.number = p.datasource WHERE p.work_id = :work_id",
      {work_id});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  const store::Row& row = rows->front();
  absl::StatusOr<Interval> interval = Interval::Of(row.At(2), row.At(3));
  if (!interval.ok()) return interval.status();
  return PinRow{{row.Int(0), row.Int(1)}, *interval, row.Text(4), row.Text(5)};
}

// The last work of an orphan is settled: its time is free.
absl::Status NoteSettled(store::Transaction& tx, const Key& key) {
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, key);
  if (!stored.ok()) return stored.status();
  // One whose end nobody has noted yet was never told to be an orphan.
  if (!stored->has_value() || (*stored)->reservation.state == State::kActive) {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<Pin>> left = PinsOf(tx, key);
  if (!left.ok() || !left->empty()) return left.status();
  absl::StatusOr<int64_t> revision =
      Append(tx, key, EventKind::kSettled, tx.now(), (*stored)->reservation.state,
             (*stored)->reservation.deadline);
  return revision.ok() ? SetRevision(tx, key, *revision) : revision.status();
}

absl::Status Remove(store::Transaction& tx, const std::string& work_id, const Key& key) {
  absl::Status status = LockDatasource(tx, key.datasource).status();
  if (status.ok()) {
    status = tx.Execute("DELETE FROM lease_pin WHERE work_id = :work_id", {work_id}).status();
  }
  if (status.ok()) status = NoteSettled(tx, key);
  // An ended reservation blocked for this; an active one stays as it is.
  return status.ok() ? Clear(tx, key) : status;
}

}  // namespace

absl::Status PinWork(store::Transaction& tx, const std::string& id, int64_t token, const Pin& pin) {
  absl::StatusOr<Reservation> reservation = Get(tx, id);
  if (!reservation.ok()) return reservation.status();
  absl::Status status = CheckToken(tx, id, token, reservation->datasource, pin.interval);
  if (!status.ok()) return status;
  absl::StatusOr<std::optional<PinRow>> there = FindPin(tx, pin.work_id);
  if (!there.ok()) return there.status();
  if (there->has_value()) {
    const bool same = IdOf((*there)->key) == id && (*there)->interval == pin.interval;
    return same ? absl::OkStatus() : WorkPinnedElsewhere(pin.work_id, IdOf((*there)->key));
  }
  const Key key = *KeyOf(id);
  return tx
      .Execute(
          "INSERT INTO lease_pin (work_id, datasource, token, start_ms, end_ms, link,"
          " since_ms) VALUES (:work_id, :datasource, :token, :start, :end, :link, :since)",
          {pin.work_id, key.datasource, key.token, pin.interval.start(), pin.interval.end(),
           pin.link, tx.now()})
      .status();
}

absl::Status UnpinWork(store::Transaction& tx, const std::string& work_id) {
  absl::StatusOr<std::optional<PinRow>> pin = FindPin(tx, work_id);
  if (!pin.ok()) return pin.status();
  return pin->has_value() ? Remove(tx, work_id, (*pin)->key) : absl::OkStatus();
}

absl::Status AbandonWork(store::Transaction& tx, const std::string& work_id,
                         const audit::Caller& caller) {
  if (caller.reason.empty()) return ReasonRequired("to abandon work whose outcome is not known");
  absl::StatusOr<std::optional<PinRow>> pin = FindPin(tx, work_id);
  if (!pin.ok()) return pin.status();
  if (!pin->has_value()) return UnknownWork(work_id);
  absl::Status status = Remove(tx, work_id, (*pin)->key);
  if (!status.ok()) return status;
  const std::string before = audit::JsonObject()
                                 .Text("work", work_id)
                                 .Text("interval", (*pin)->interval.ToString())
                                 .Text("link", (*pin)->link)
                                 .ToString();
  return audit::Record(
      tx, {caller, "AbandonWork", (*pin)->datasource, IdOf((*pin)->key), "OK", before, ""});
}

absl::StatusOr<std::vector<ForcedWork>> ListForcedWork(store::Transaction& tx, int64_t most) {
  // From the pins, which are few: what is unsettled.
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT p.work_id, p.datasource, p.token, p.start_ms, p.end_ms, p.link, d.name, r.forced_by,"
      " r.force_reason FROM lease_pin p JOIN lease_reservation r ON r.datasource = p.datasource"
      " AND r.token = p.token JOIN lease_datasource d ON d.number = p.datasource"
      " WHERE r.state = 'FORCED' ORDER BY p.work_id LIMIT :most",
      {most});
  if (!rows.ok()) return rows.status();
  std::vector<ForcedWork> forced;
  for (const store::Row& row : *rows) {
    forced.push_back({row.Text(0), IdOf({row.Int(1), row.Int(2)}), row.Text(6),
                      Interval::Between(row.At(3), row.At(4)), row.Text(5), row.Text(7),
                      row.Text(8)});
  }
  return forced;
}

}  // namespace interlock::lease
