// Attempts in the store's tables.
#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/rows.h"
#include "lib/backfill/told_json.h"

namespace interlock::backfill {
namespace {

#define INTERLOCK_ATTEMPT_COLUMNS                                                      \
  "task_id, datasource, unit_key, number, backfill_id, unit, nonce, state, posts,"     \
  " reservation_id, token, before_look, intended_ms, posted_ms, running_ms, ended_ms," \
  " settled_ms, shutdown_ms, druid_status, druid_error, druid_created_ms,"             \
  " druid_ended_ms, locks, others_seen, task_rows, abandoned_by, abandon_reason,"      \
  " after_look"

constexpr size_t kMaxErrorBytes = 1'000;  // of Druid's words

Attempt AttemptOf(const store::Row& row) {
  size_t i = 0;
  Attempt a;
  a.task_id = row.Text(i++);
  a.datasource = row.Text(i++);
  a.unit_key = row.Text(i++);
  a.number = row.Int(i++);
  a.backfill_id = row.Text(i++);
  a.unit = row.Int(i++);
  a.nonce = row.Text(i++);
  a.state = AttemptStateOf(row.Text(i++));
  a.posts = row.Int(i++);
  a.reservation_id = row.Text(i++);
  a.token = row.Int(i++);
  if (auto before = BeforeLookFrom(row.Text(i++))) a.before = *std::move(before);
  a.intended = row.At(i++);
  a.posted = row.MaybeAt(i++);
  a.running = row.MaybeAt(i++);
  a.ended = row.MaybeAt(i++);
  a.settled = row.MaybeAt(i++);
  a.shutdown_asked = row.MaybeAt(i++);
  a.druid_status = row.Text(i++);
  a.druid_error = row.Text(i++);
  a.druid_created = row.MaybeAt(i++);
  a.druid_ended = row.MaybeAt(i++);
  a.locks = LocksFrom(row.Text(i++));
  a.others_seen = row.Flag(i++);
  if (!row.IsNull(i)) a.rows = TaskRowsFrom(row.Text(i));
  ++i;
  a.abandoned_by = row.Text(i++);
  a.abandon_reason = row.Text(i++);
  a.neighbours_after = SeenSegmentsFrom(row.Text(i++));
  return a;
}

store::Value RowsValue(const Attempt& attempt) {
  return attempt.rows ? store::Value(ToJson(*attempt.rows)) : store::Value();
}

}  // namespace

absl::StatusOr<int64_t> NextAttempt(store::Transaction& tx, const std::string& datasource,
                                    const std::string& unit_key) {
  auto rows = tx.Query(
      "SELECT MAX(number) FROM backfill_attempt WHERE datasource = :datasource AND"
      " unit_key = :key",
      {datasource, unit_key});
  if (!rows.ok()) return rows.status();
  return rows->front().Int(0) + 1;
}

absl::Status InsertAttempt(store::Transaction& tx, const Attempt& a, const Interval& hull) {
  return tx
      .Execute(
          "INSERT INTO backfill_attempt (" INTERLOCK_ATTEMPT_COLUMNS
          ", start_ms, end_ms) VALUES (:task, :datasource, :key, :number, :backfill, :unit, :nonce,"
          " :state, :posts, :reservation, :token, :before, :intended, :posted, :running, :ended,"
          " :settled, :shutdown, :status, :error, :created, :over, :locks, :others, :rows, :by,"
          " :why, :after, :start, :end)",
          {a.task_id,
           a.datasource,
           a.unit_key,
           a.number,
           a.backfill_id,
           a.unit,
           a.nonce,
           std::string(NameOf(a.state)),
           a.posts,
           a.reservation_id,
           a.token,
           ToJson(a.before),
           a.intended,
           a.posted,
           a.running,
           a.ended,
           a.settled,
           a.shutdown_asked,
           a.druid_status,
           a.druid_error,
           a.druid_created,
           a.druid_ended,
           LocksToJson(a.locks),
           a.others_seen,
           RowsValue(a),
           a.abandoned_by,
           a.abandon_reason,
           ToJson(a.neighbours_after),
           hull.start(),
           hull.end()})
      .status();
}

absl::Status UpdateAttempt(store::Transaction& tx, const Attempt& a) {
  return tx
      .Execute(
          "UPDATE backfill_attempt SET state = :state, posts = :posts, posted_ms = :posted,"
          " running_ms = :running, ended_ms = :ended, settled_ms = :settled,"
          " shutdown_ms = :shutdown, druid_status = :status, druid_error = :error,"
          " druid_created_ms = :created, druid_ended_ms = :over, locks = :locks,"
          " others_seen = :others, task_rows = :rows, abandoned_by = :by, abandon_reason = :why,"
          " after_look = :after"
          " WHERE task_id = :task",
          {std::string(NameOf(a.state)), a.posts, a.posted, a.running, a.ended, a.settled,
           a.shutdown_asked, a.druid_status, a.druid_error.substr(0, kMaxErrorBytes),
           a.druid_created, a.druid_ended, LocksToJson(a.locks), a.others_seen, RowsValue(a),
           a.abandoned_by, a.abandon_reason, ToJson(a.neighbours_after), a.task_id})
      .status();
}

absl::StatusOr<Attempt> ReadAttempt(store::Transaction& tx, const std::string& task_id) {
  auto rows =
      tx.Query("SELECT " INTERLOCK_ATTEMPT_COLUMNS " FROM backfill_attempt WHERE task_id = :task",
               {task_id});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return UnknownAttempt(task_id);
  return AttemptOf(rows->front());
}

absl::StatusOr<std::vector<Attempt>> ReadAttempts(store::Transaction& tx,
                                                  const std::string& backfill_id, int64_t unit) {
  auto rows = tx.Query("SELECT " INTERLOCK_ATTEMPT_COLUMNS
                       " FROM backfill_attempt WHERE backfill_id = :id AND unit = :unit"
                       " ORDER BY number",
                       {backfill_id, unit});
  if (!rows.ok()) return rows.status();
  std::vector<Attempt> attempts;
  for (const store::Row& row : *rows) attempts.push_back(AttemptOf(row));
  return attempts;
}

absl::StatusOr<std::vector<int64_t>> ProvenUnitsAtEdges(store::Transaction& tx,
                                                        const std::string& backfill_id,
                                                        const Interval& interval) {
  auto rows = tx.Query(
      "SELECT unit FROM backfill_partition WHERE backfill_id = :id AND start_ms IN ("
      " (SELECT MIN(start_ms) FROM backfill_partition WHERE backfill_id = :first AND"
      " state IN ('DONE', 'EMPTY') AND start_ms < :end AND end_ms > :start),"
      " (SELECT MAX(start_ms) FROM backfill_partition WHERE backfill_id = :last AND"
      " state IN ('DONE', 'EMPTY') AND start_ms < :until AND end_ms > :from))"
      " ORDER BY start_ms",
      {backfill_id, backfill_id, interval.end(), interval.start(), backfill_id, interval.end(),
       interval.start()});
  if (!rows.ok()) return rows.status();
  std::vector<int64_t> units;
  for (const store::Row& row : *rows) {
    if (units.empty() || units.back() != row.Int(0)) units.push_back(row.Int(0));
  }
  return units;
}

absl::StatusOr<std::vector<verify::KnownChange>> KnownAttempts(store::Transaction& tx,
                                                               const std::string& datasource,
                                                               const Interval& around,
                                                               Instant since,
                                                               const std::string& but_task) {
  auto rows = tx.Query(
      "SELECT task_id, start_ms, end_ms, number, backfill_id, intended_ms, settled_ms"
      " FROM backfill_attempt WHERE datasource = :datasource AND start_ms < :end AND"
      " end_ms > :start AND (settled_ms IS NULL OR settled_ms >= :since) AND task_id <> :but",
      {datasource, around.end(), around.start(), since, but_task});
  if (!rows.ok()) return rows.status();
  std::vector<verify::KnownChange> known;
  for (const store::Row& row : *rows) {
    auto interval = Interval::Of(row.At(1), row.At(2));
    if (!interval.ok()) return interval.status();
    known.push_back(
        {*interval, row.At(5), row.MaybeAt(6),
         absl::StrCat("attempt ", row.Int(3), " of ", row.Text(4), ", task ", row.Text(0))});
  }
  return known;
}

}  // namespace interlock::backfill
