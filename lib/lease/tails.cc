#include "lib/lease/tails.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

#define SELECT_TAIL                                                                   \
  "SELECT d.name, t.stream, t.bound_ms, t.offset_ms, t.source, t.note, t.observed_ms" \
  " FROM lease_tail t JOIN lease_datasource d ON d.number = t.datasource "

absl::StatusOr<std::vector<Tail>> TailsOf(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  std::vector<Tail> tails;
  for (const store::Row& row : *rows) {
    Tail tail;
    tail.datasource = row.Text(0);
    tail.stream = row.Text(1);
    tail.bound = row.MaybeAt(2);
    if (!row.IsNull(3)) tail.offset = absl::Milliseconds(row.Int(3));
    tail.source = row.Text(4);
    tail.note = row.Text(5);
    tail.observed = row.At(6);
    tails.push_back(std::move(tail));
  }
  return tails;
}

absl::Status SetHasTails(store::Transaction& tx, int64_t datasource) {
  return tx
      .Execute(
          "UPDATE lease_datasource SET has_tails = (SELECT COUNT(*) FROM lease_tail"
          " WHERE datasource = :datasource) WHERE number = :number",
          {datasource, datasource})
      .status();
}

Held RefusedBy(const Tail& tail, const Interval& piece, Instant start) {
  Held held;
  held.by = HeldBy::kTail;
  held.interval = piece;
  held.holder = tail.stream;
  held.purpose = tail.note;
  held.mode = Mode::kAppend;
  held.since = tail.observed;
  held.until = Instant::kMax;
  held.reason = tail.unbounded() ? "UNBOUNDED_TAIL" : "TAIL";
  held.message =
      tail.unbounded()
          ? absl::StrCat("stream ", tail.stream, " has no late-message bound (", tail.source,
                         "): it may still write any time")
          : absl::StrCat("stream ", tail.stream, " may still write from ", start.ToString(),
                         " on (", tail.source, ", observed ", tail.observed.ToString(), ")");
  held.remedy =
      tail.unbounded()
          ? absl::StrCat("declare what it may still write: interlockctl streams register ",
                         tail.datasource, " --stream ", tail.stream, " --tail P2D")
          : absl::StrCat("ask for what ends at or before ", start.ToString(),
                         ", or wait until the tail has passed");
  return held;
}

}  // namespace

Instant Tail::StartAt(Instant now) const {
  if (unbounded()) return Instant::kMin;
  const Instant at = bound.value_or(Instant::kMax);
  return offset ? std::min(at, now - *offset) : at;
}

absl::Status SetTail(store::Transaction& tx, const Tail& tail) {
  absl::StatusOr<DatasourceRow> datasource = LockDatasource(tx, tail.datasource);
  if (!datasource.ok()) return datasource.status();
  const store::Value offset =
      tail.offset ? store::Value(absl::ToInt64Milliseconds(*tail.offset)) : store::Value();
  absl::Status status =
      tx.Execute(
            "INSERT INTO lease_tail (datasource, stream, bound_ms, offset_ms, source, note,"
            " observed_ms) VALUES (:datasource, :stream, :bound, :offset, :source, :note,"
            " :observed) ON CONFLICT (datasource, stream) DO UPDATE SET"
            " bound_ms = excluded.bound_ms, offset_ms = excluded.offset_ms,"
            " source = excluded.source, note = excluded.note, observed_ms = excluded.observed_ms",
            {datasource->number, tail.stream, tail.bound, offset, tail.source, tail.note, tx.now()})
          .status();
  return status.ok() ? SetHasTails(tx, datasource->number) : status;
}

absl::StatusOr<bool> RemoveTail(store::Transaction& tx, const std::string& datasource,
                                const std::string& stream) {
  absl::StatusOr<DatasourceRow> row = LockDatasource(tx, datasource);
  if (!row.ok()) return row.status();
  absl::StatusOr<int64_t> removed =
      tx.Execute("DELETE FROM lease_tail WHERE datasource = :datasource AND stream = :stream",
                 {row->number, stream});
  if (!removed.ok()) return removed.status();
  absl::Status status = SetHasTails(tx, row->number);
  if (!status.ok()) return status;
  return *removed > 0;
}

absl::StatusOr<std::vector<Tail>> ListTails(store::Transaction& tx, const std::string& datasource) {
  return TailsOf(datasource.empty() ? tx.Query(SELECT_TAIL "ORDER BY d.name, t.stream", {})
                                    : tx.Query(SELECT_TAIL "WHERE d.name = :name ORDER BY t.stream",
                                               {datasource}));
}

absl::StatusOr<std::vector<Held>> FindTails(store::Transaction& tx, const DatasourceRow& datasource,
                                            const std::vector<Interval>& intervals, Tails tails) {
  std::vector<Held> found;
  if (!datasource.has_tails || tails == Tails::kAccept) return found;
  absl::StatusOr<std::vector<Tail>> all = TailsOf(tx.Query(
      SELECT_TAIL "WHERE t.datasource = :datasource ORDER BY t.stream", {datasource.number}));
  if (!all.ok()) return all.status();
  for (const Tail& tail : *all) {
    if (tail.unbounded() && tails == Tails::kAcceptUnbounded) continue;
    const Instant start = tail.StartAt(tx.now());
    const Interval covered = Interval::Between(start, Instant::kMax);
    for (const Interval& piece : Intersect(intervals, {covered})) {
      found.push_back(RefusedBy(tail, piece, start));
    }
  }
  return found;
}

}  // namespace interlock::lease
