// Backfills and what was proven last; units, partitions and attempts have files of their
// own.
#include "lib/backfill/rows.h"

#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/derived_rows.h"
#include "lib/backfill/revision.h"

namespace interlock::backfill {
namespace {

#define INTERLOCK_BACKFILL_COLUMNS                                                         \
  "id, number, revision, phase, reason, message, pause, cancel, datasource, intervals,"    \
  " granularity, spec, digest, label, requested_by, holder, request_id, fingerprint,"      \
  " purpose, request_reason, labels, reprocess, max_parallel, max_attempts, newest_first," \
  " skip_held, level, waiting_ms, run_ms, terms, expected_rows, druid_source, why_cut,"    \
  " finer, notices, reservation_id, token, lent, reservations, renew_ms, created_ms,"      \
  " started_ms, ended_ms, job, job_version, rollback_ms, deadline_ms, totals_judged, sources"

Backfill BackfillOf(const store::Row& row) {
  size_t i = 0;
  Backfill b;
  b.id = row.Text(i++);
  b.number = row.Int(i++);
  b.revision = row.Int(i++);
  b.phase = PhaseOf(row.Text(i++));
  b.reason = row.Text(i++);
  b.message = row.Text(i++);
  b.pause = row.Flag(i++);
  b.cancel = row.Flag(i++);
  b.datasource = row.Text(i++);
  b.intervals = IntervalsFrom(row.Text(i++));
  b.granularity_json = row.Text(i++);
  b.spec_json = row.Text(i++);
  b.digest = row.Text(i++);
  b.label = row.Text(i++);
  b.requested_by = row.Text(i++);
  b.holder = row.Text(i++);
  b.request_id = row.Text(i++);
  b.fingerprint = row.Text(i++);
  b.purpose = row.Text(i++);
  b.request_reason = row.Text(i++);
  b.labels = LabelsFrom(row.Text(i++));
  b.reprocess = static_cast<Reprocess>(row.Int(i++));
  b.max_parallel = row.Int(i++);
  b.max_attempts = row.Int(i++);
  b.newest_first = row.Flag(i++);
  b.skip_held = row.Flag(i++);
  b.level = static_cast<verify::Level>(row.Int(i++));
  b.waiting_deadline = absl::Milliseconds(row.Int(i++));
  b.run_deadline = absl::Milliseconds(row.Int(i++));
  b.terms = RowTermsFrom(row.Text(i++));
  if (!row.IsNull(i)) b.expected_rows = row.Int(i);
  ++i;
  b.druid_source = row.Text(i++);
  b.why_cut = row.Text(i++);
  b.finer = row.Text(i++);
  b.notices = TextsFrom(row.Text(i++));
  b.reservation_id = row.Text(i++);
  b.token = row.Int(i++);
  b.lent = row.Flag(i++);
  b.reservations = row.Int(i++);
  b.renew = row.MaybeAt(i++);
  b.created = row.At(i++);
  b.started = row.MaybeAt(i++);
  b.ended = row.MaybeAt(i++);
  b.job = row.Text(i++);
  b.job_version = row.Int(i++);
  b.rollback_window = absl::Milliseconds(row.Int(i++));
  b.deadline = row.MaybeAt(i++);
  b.totals_judged = row.Flag(i++);
  b.sources = SourcesFrom(row.Text(i++));
  return b;
}

absl::StatusOr<std::optional<Backfill>> FirstOf(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  return BackfillOf(rows->front());
}

store::Value Maybe(const std::optional<int64_t>& number) {
  return number ? store::Value(*number) : store::Value();
}

}  // namespace

absl::StatusOr<int64_t> NextRevision(store::Transaction& tx) {
  auto rows = tx.Query(
      "UPDATE backfill_counter SET last_revision = last_revision + 1 RETURNING last_revision", {});
  if (!rows.ok()) return rows.status();
  return rows->front().Int(0);
}

absl::StatusOr<Backfill> ReadBackfill(store::Transaction& tx, const std::string& id) {
  auto found =
      FirstOf(tx.Query("SELECT " INTERLOCK_BACKFILL_COLUMNS " FROM backfill WHERE id = :id", {id}));
  if (!found.ok()) return found.status();
  if (!*found) return UnknownBackfill(id);
  return **std::move(found);
}

absl::StatusOr<std::optional<Backfill>> FindByRequest(store::Transaction& tx,
                                                      const std::string& requested_by,
                                                      const std::string& holder,
                                                      const std::string& request_id) {
  if (request_id.empty()) return std::nullopt;
  return FirstOf(tx.Query("SELECT " INTERLOCK_BACKFILL_COLUMNS
                          " FROM backfill WHERE requested_by = :by AND holder = :holder AND"
                          " request_id = :request",
                          {requested_by, holder, request_id}));
}

absl::StatusOr<std::optional<Backfill>> FindSameWork(store::Transaction& tx,
                                                     const std::string& datasource,
                                                     const std::string& digest,
                                                     const std::string& intervals) {
  return FirstOf(tx.Query("SELECT " INTERLOCK_BACKFILL_COLUMNS
                          " FROM backfill WHERE datasource = :datasource AND digest = :digest AND"
                          " intervals = :intervals ORDER BY number DESC LIMIT 1",
                          {datasource, digest, intervals}));
}

absl::Status InsertBackfill(store::Transaction& tx, Backfill& b) {
  auto counted = tx.Query(
      "UPDATE backfill_counter SET last_number = last_number + 1,"
      " last_revision = last_revision + 1 RETURNING last_number, last_revision",
      {});
  if (!counted.ok()) return counted.status();
  b.number = counted->front().Int(0);
  b.revision = counted->front().Int(1);
  b.id = absl::StrCat("bf-", b.number);
  b.created = tx.now();
  return tx
      .Execute(
          "INSERT INTO backfill (" INTERLOCK_BACKFILL_COLUMNS
          ", start_ms, end_ms) VALUES ("
          ":id, :number, :revision, :phase, :reason, :message, :pause, :cancel, :datasource,"
          " :intervals, :granularity, :spec, :digest, :label, :requested_by, :holder,"
          " :request_id, :fingerprint, :purpose, :request_reason, :labels, :reprocess,"
          " :max_parallel, :max_attempts, :newest_first, :skip_held, :level, :waiting, :run,"
          " :terms, :expected_rows, :druid_source, :why_cut, :finer, :notices, :reservation_id,"
          " :token, :lent, :reservations, :renew, :created, :started, :ended, :job,"
          " :job_version, :rollback, :deadline, :judged, :sources, :start, :end)",
          {b.id,
           b.number,
           b.revision,
           std::string(NameOf(b.phase)),
           b.reason,
           b.message,
           b.pause,
           b.cancel,
           b.datasource,
           IntervalsToText(b.intervals),
           b.granularity_json,
           b.spec_json,
           b.digest,
           b.label,
           b.requested_by,
           b.holder,
           b.request_id,
           b.fingerprint,
           b.purpose,
           b.request_reason,
           LabelsToJson(b.labels),
           static_cast<int64_t>(b.reprocess),
           b.max_parallel,
           b.max_attempts,
           b.newest_first,
           b.skip_held,
           static_cast<int64_t>(b.level),
           absl::ToInt64Milliseconds(b.waiting_deadline),
           absl::ToInt64Milliseconds(b.run_deadline),
           ToJson(b.terms),
           Maybe(b.expected_rows),
           b.druid_source,
           b.why_cut,
           b.finer,
           TextsToJson(b.notices),
           b.reservation_id,
           b.token,
           b.lent,
           b.reservations,
           b.renew,
           b.created,
           b.started,
           b.ended,
           b.job,
           b.job_version,
           absl::ToInt64Milliseconds(b.rollback_window),
           b.deadline,
           b.totals_judged,
           ToJson(b.sources),
           b.intervals.front().start(),
           b.intervals.back().end()})
      .status();
}

absl::Status UpdateBackfill(store::Transaction& tx, Backfill& b) {
  auto revision = NextRevision(tx);
  if (!revision.ok()) return revision.status();
  b.revision = *revision;
  return tx
      .Execute(
          "UPDATE backfill SET revision = :revision, phase = :phase, reason = :reason,"
          " message = :message, notices = :notices, reservation_id = :reservation,"
          " token = :token, lent = :lent, reservations = :reservations, renew_ms = :renew,"
          " started_ms = :started, ended_ms = :ended, totals_judged = :judged WHERE id = :id",
          {b.revision, std::string(NameOf(b.phase)), b.reason, b.message, TextsToJson(b.notices),
           b.reservation_id, b.token, b.lent, b.reservations, b.renew, b.started, b.ended,
           b.totals_judged, b.id})
      .status();
}

absl::Status SetWishes(store::Transaction& tx, Backfill& b) {
  auto revision = NextRevision(tx);
  if (!revision.ok()) return revision.status();
  b.revision = *revision;
  return tx
      .Execute(
          "UPDATE backfill SET revision = :revision, pause = :pause, cancel = :cancel,"
          " deadline_ms = :deadline WHERE id = :id",
          {b.revision, b.pause, b.cancel, b.deadline, b.id})
      .status();
}

absl::StatusOr<std::vector<Backfill>> ReadBackfills(store::Transaction& tx,
                                                    const BackfillFilter& filter, int64_t before,
                                                    int64_t most) {
  const Interval overlap = filter.overlapping.value_or(Interval::Eternity());
  auto rows =
      tx.Query("SELECT " INTERLOCK_BACKFILL_COLUMNS
               " FROM backfill WHERE (:datasource = '' OR datasource = :datasource) AND"
               " (:by = '' OR requested_by = :by) AND (:before = 0 OR number < :before)"
               " AND start_ms < :end AND end_ms > :start AND created_ms >= :since AND"
               " created_ms < :until ORDER BY number DESC LIMIT :most",
               {filter.datasource, filter.datasource, filter.requested_by, filter.requested_by,
                before, before, overlap.end(), overlap.start(),
                filter.since.value_or(Instant::kMin), filter.until.value_or(Instant::kMax), most});
  if (!rows.ok()) return rows.status();
  std::vector<Backfill> backfills;
  for (const store::Row& row : *rows) backfills.push_back(BackfillOf(row));
  return backfills;
}

absl::Status RecordDone(store::Transaction& tx, const std::string& datasource,
                        const Interval& partition, const DoneBefore& done) {
  absl::Status status =
      tx.Execute(
            "INSERT INTO backfill_done (datasource, start_ms, end_ms, digest, version, backfill_id,"
            " at_ms) VALUES (:datasource, :start, :end, :digest, :version, :backfill, :at)"
            " ON CONFLICT (datasource, start_ms, end_ms) DO UPDATE SET digest = excluded.digest,"
            " version = excluded.version, backfill_id = excluded.backfill_id,"
            " at_ms = excluded.at_ms",
            {datasource, partition.start(), partition.end(), done.digest, done.version,
             done.backfill_id, tx.now()})
          .status();
  return status.ok() ? NoteChange(tx, datasource, partition) : status;
}

absl::Status ForgetDone(store::Transaction& tx, const std::string& datasource,
                        const Interval& partition, const std::string& backfill_id) {
  return tx
      .Execute(
          "DELETE FROM backfill_done WHERE datasource = :datasource AND start_ms = :start AND"
          " end_ms = :end AND backfill_id = :backfill",
          {datasource, partition.start(), partition.end(), backfill_id})
      .status();
}

absl::StatusOr<std::optional<DoneBefore>> FindDone(store::Transaction& tx,
                                                   const std::string& datasource,
                                                   const Interval& partition) {
  auto rows = tx.Query(
      "SELECT digest, version, backfill_id FROM backfill_done WHERE datasource = :datasource AND"
      " start_ms = :start AND end_ms = :end",
      {datasource, partition.start(), partition.end()});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  const store::Row& row = rows->front();
  return DoneBefore{row.Text(0), row.Text(1), row.Text(2)};
}

}  // namespace interlock::backfill
