// The rows of lease_interval: what a reservation blocks, and how that ends.
#include "absl/time/time.h"
#include "lib/lease/live_counts.h"
#include "lib/lease/tables.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {

absl::StatusOr<std::vector<IntervalRow>> IntervalsOf(store::Transaction& tx, const Key& key) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT start_ms, end_ms, live FROM lease_interval WHERE datasource = :datasource"
      " AND token = :token ORDER BY start_ms",
      {key.datasource, key.token});
  if (!rows.ok()) return rows.status();
  std::vector<IntervalRow> intervals;
  for (const store::Row& row : *rows) {
    absl::StatusOr<Interval> interval = Interval::Of(row.At(0), row.At(1));
    if (!interval.ok()) return interval.status();
    intervals.push_back({*interval, row.Flag(2)});
  }
  return intervals;
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

namespace {

absl::Status CountOneLess(store::Transaction& tx, const Stored& stored) {
  absl::Status status =
      tx.Execute("UPDATE lease_datasource SET live_count = live_count - 1 WHERE number = :number",
                 {stored.key.datasource})
          .status();
  if (!status.ok()) return status;
  return tx
      .Execute(
          "UPDATE lease_holder SET live_count = live_count - 1 WHERE datasource = :datasource"
          " AND holder = :holder",
          {stored.key.datasource, CountedFor(stored.identity, stored.reservation.holder)})
      .status();
}

absl::Status EndAll(store::Transaction& tx, const Stored& stored) {
  if (!stored.live) return absl::OkStatus();
  const Key& key = stored.key;
  absl::Status status = tx.Execute(
                              "UPDATE lease_interval SET live = 0 WHERE datasource = :datasource"
                              " AND token = :token AND live = 1",
                              {key.datasource, key.token})
                            .status();
  if (status.ok()) {
    status = tx.Execute(
                   "UPDATE lease_reservation SET live = 0 WHERE datasource = :datasource"
                   " AND token = :token",
                   {key.datasource, key.token})
                 .status();
  }
  return status.ok() ? CountOneLess(tx, stored) : status;
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
  if (kept.empty()) return EndAll(tx, stored);
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
