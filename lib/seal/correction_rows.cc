#include "lib/seal/correction_rows.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/seal/figures_json.h"

#define INTERLOCK_CORRECTION_COLUMNS                                                             \
  "number, datasource, own_number, start_ms, end_ms, seal, seal_label, backfill_id, job,"        \
  " job_version, requested_by, reason, created_ms, corrections_datasource, deltas, delta_count," \
  " was_totals, is_totals"

namespace interlock::seal {
namespace {

Correction CorrectionFrom(const store::Row& row) {
  Correction correction;
  correction.id = absl::StrCat("c", row.Int(0));
  correction.datasource = row.Text(1);
  correction.number = row.Int(2);
  if (auto interval = Interval::Of(row.At(3), row.At(4)); interval.ok()) {
    correction.interval = *interval;
  }
  correction.seal_id = absl::StrCat("s", row.Int(5));
  correction.seal_label = row.Text(6);
  correction.backfill_id = row.Text(7);
  correction.job = row.Text(8);
  correction.job_version = row.Int(9);
  correction.requested_by = row.Text(10);
  correction.reason = row.Text(11);
  correction.created = row.At(12);
  correction.corrections_datasource = row.Text(13);
  correction.deltas = DeltasFrom(row.Text(14));
  correction.delta_count = row.Int(15);
  correction.was_totals = ValuesFrom(row.Text(16));
  correction.is_totals = ValuesFrom(row.Text(17));
  return correction;
}

}  // namespace

absl::StatusOr<bool> InsertCorrection(store::Transaction& tx, Correction& correction) {
  auto there = tx.Query(
      "SELECT was_totals, is_totals, deltas FROM seal_correction WHERE backfill_id = :backfill AND"
      " start_ms = :start ORDER BY number DESC LIMIT 1",
      {correction.backfill_id, correction.interval.start()});
  if (!there.ok()) return there.status();
  const bool same = !there->empty() && there->front().Text(0) == ToJson(correction.was_totals) &&
                    there->front().Text(1) == ToJson(correction.is_totals) &&
                    there->front().Text(2) == ToJson(correction.deltas);
  if (same) return false;
  int64_t seal = 0;
  if (!absl::SimpleAtoi(correction.seal_id.substr(1), &seal)) seal = 0;
  auto last = tx.Query(
      "SELECT COALESCE(MAX(own_number), 0) FROM seal_correction WHERE datasource = :datasource",
      {correction.datasource});
  if (!last.ok()) return last.status();
  correction.number = last->front().Int(0) + 1;
  auto rows = tx.Query(
      "INSERT INTO seal_correction (datasource, own_number, start_ms, end_ms, seal, seal_label,"
      " backfill_id, job, job_version, requested_by, reason, created_ms, corrections_datasource,"
      " deltas, delta_count, was_totals, is_totals) VALUES (:datasource, :own, :start, :end, :seal,"
      " :label, :backfill, :job, :version, :by, :reason, :created, :corrections, :deltas, :count,"
      " :was, :is) RETURNING number",
      {correction.datasource, correction.number, correction.interval.start(),
       correction.interval.end(), seal, correction.seal_label, correction.backfill_id,
       correction.job, correction.job_version, correction.requested_by, correction.reason,
       correction.created, correction.corrections_datasource, ToJson(correction.deltas),
       correction.delta_count, ToJson(correction.was_totals), ToJson(correction.is_totals)});
  if (!rows.ok()) return rows.status();
  correction.id = absl::StrCat("c", rows->front().Int(0));
  return true;
}

absl::StatusOr<std::vector<NumberedCorrection>> CorrectionsAfter(store::Transaction& tx,
                                                                 const std::string& datasource,
                                                                 int64_t after, int64_t most) {
  auto rows = tx.Query("SELECT " INTERLOCK_CORRECTION_COLUMNS
                       " FROM seal_correction WHERE number > :after AND (:datasource = '' OR"
                       " datasource = :datasource) ORDER BY number LIMIT :most",
                       {after, datasource, datasource, most});
  if (!rows.ok()) return rows.status();
  std::vector<NumberedCorrection> corrections;
  for (const store::Row& row : *rows) corrections.push_back({row.Int(0), CorrectionFrom(row)});
  return corrections;
}

}  // namespace interlock::seal
