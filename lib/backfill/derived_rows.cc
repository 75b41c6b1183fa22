#include "lib/backfill/derived_rows.h"

#include <algorithm>

#include "lib/backfill/gathering.h"
#include "lib/backfill/record.h"
#include "lib/time/interval_set.h"
#include "lib/work/steps.h"

namespace interlock::backfill {
namespace {

DerivedRun RunOf(const store::Row& row) {
  DerivedRun run;
  run.number = row.Int(0);
  run.job = row.Text(1);
  run.version = row.Int(2);
  run.intervals = IntervalsFrom(row.Text(3));
  run.correction = row.Flag(4);
  run.backfill_id = row.Text(5);
  run.why = row.Text(6);
  return run;
}

// Datasources whose changes concern a job.
std::set<std::string> ReadFrom(const std::vector<Source>& sources) {
  std::set<std::string> all;
  for (const Source& source : sources) {
    all.insert(source.datasource);
    if (source.reads == Source::Reads::kCorrected) all.insert(source.corrections_datasource);
  }
  return all;
}

absl::StatusOr<bool> Any(store::Transaction& tx, const char* sql, const std::string& datasource) {
  auto rows = tx.Query(sql, {datasource});
  if (!rows.ok()) return rows.status();
  return !rows->empty();
}

}  // namespace

std::vector<std::string> DerivedTables() {
  return {
      "ALTER TABLE job_version ADD COLUMN sources TEXT NOT NULL DEFAULT ''",
      "ALTER TABLE job_version ADD COLUMN gather_ms BIGINT",
      "ALTER TABLE job_version ADD COLUMN corrections_datasource TEXT NOT NULL DEFAULT ''",
      "ALTER TABLE backfill ADD COLUMN sources TEXT NOT NULL DEFAULT ''",

      // What the newest versions depend on.
      "CREATE TABLE derived_source (source TEXT NOT NULL, job TEXT NOT NULL,"
      " target TEXT NOT NULL, PRIMARY KEY (source, job)) {{clustered}}",

      // run 0: no run has taken it yet. state: OPEN, DONE, FAILED.
      "CREATE TABLE derived_change (number {{serial}}, job TEXT NOT NULL, source TEXT NOT NULL,"
      " start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, at_ms BIGINT NOT NULL,"
      " run BIGINT NOT NULL)",
      "CREATE INDEX derived_change_by_job ON derived_change (job, run)",
      "CREATE TABLE derived_run (number {{serial}}, job TEXT NOT NULL, version BIGINT NOT NULL,"
      " intervals TEXT NOT NULL, correction BIGINT NOT NULL, backfill_id TEXT NOT NULL,"
      " why TEXT NOT NULL, state TEXT NOT NULL, made_ms BIGINT NOT NULL, ended_ms BIGINT)",
      "CREATE INDEX derived_run_by_job ON derived_run (job, state)",
  };
}

absl::Status PutDependencies(store::Transaction& tx, const Job& job) {
  absl::Status status =
      tx.Execute("DELETE FROM derived_source WHERE job = :job", {job.name}).status();
  for (const std::string& source : ReadFrom(job.sources)) {
    if (!status.ok()) return status;
    status = tx.Execute(
                   "INSERT INTO derived_source (source, job, target) VALUES (:source, :job,"
                   " :target)",
                   {source, job.name, job.datasource})
                 .status();
  }
  return status;
}

absl::Status BeginLooking(store::Transaction& tx, const Job& job) {
  if (job.sources.empty()) return absl::OkStatus();
  return work::Schedule(tx, kDerivedWorkKind, job.name, tx.now() + kDriftLook);
}

absl::StatusOr<std::vector<std::string>> DependentsOf(store::Transaction& tx,
                                                      const std::string& datasource) {
  auto rows =
      tx.Query("SELECT job FROM derived_source WHERE source = :source ORDER BY job", {datasource});
  if (!rows.ok()) return rows.status();
  std::vector<std::string> jobs;
  for (const store::Row& row : *rows) jobs.push_back(row.Text(0));
  return jobs;
}

absl::StatusOr<Derivations> ReadDerivations(store::Transaction& tx, const std::string& but) {
  auto rows = tx.Query("SELECT target, source FROM derived_source WHERE job <> :but", {but});
  if (!rows.ok()) return rows.status();
  Derivations derivations;
  for (const store::Row& row : *rows) derivations[row.Text(0)].insert(row.Text(1));
  return derivations;
}

absl::Status NoteChangeFor(store::Transaction& tx, const std::string& job,
                           const std::string& source, const Interval& partition) {
  auto there = tx.Query(
      "SELECT 1 FROM derived_change WHERE job = :job AND run = 0 AND source = :source AND"
      " start_ms = :start AND end_ms = :end",
      {job, source, partition.start(), partition.end()});
  if (!there.ok()) return there.status();
  if (!there->empty()) return absl::OkStatus();
  absl::Status status =
      tx.Execute(
            "INSERT INTO derived_change (job, source, start_ms, end_ms, at_ms, run) VALUES"
            " (:job, :source, :start, :end, :at, 0)",
            {job, source, partition.start(), partition.end(), tx.now()})
          .status();
  return status.ok() ? work::Schedule(tx, kDerivedWorkKind, job, tx.now()) : status;
}

absl::Status NoteChange(store::Transaction& tx, const std::string& datasource,
                        const Interval& partition) {
  auto jobs = DependentsOf(tx, datasource);
  if (!jobs.ok()) return jobs.status();
  for (const std::string& job : *jobs) {
    absl::Status status = NoteChangeFor(tx, job, datasource, partition);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SourceChange>> ChangesFor(store::Transaction& tx, const std::string& job,
                                                     bool with_failed) {
  auto rows = tx.Query(
      "SELECT source, start_ms, end_ms, at_ms FROM derived_change WHERE job = :job AND (run = 0"
      " OR (:failed = 1 AND run IN (SELECT number FROM derived_run WHERE job = :same AND"
      " state = 'FAILED'))) ORDER BY number",
      {job, with_failed, job});
  if (!rows.ok()) return rows.status();
  std::vector<SourceChange> changes;
  for (const store::Row& row : *rows) {
    auto interval = Interval::Of(row.At(1), row.At(2));
    if (!interval.ok()) return interval.status();
    changes.push_back({row.Text(0), *interval, row.At(3)});
  }
  return changes;
}

absl::Status MakeRun(store::Transaction& tx, DerivedRun& run, bool shared) {
  auto rows = tx.Query(
      "INSERT INTO derived_run (job, version, intervals, correction, backfill_id, why, state,"
      " made_ms) VALUES (:job, :version, :intervals, :correction, '', :why, 'OPEN', :made)"
      " RETURNING number",
      {run.job, run.version, IntervalsToText(run.intervals), run.correction, run.why, tx.now()});
  if (!rows.ok()) return rows.status();
  const int64_t first = run.number;
  run.number = rows->front().Int(0);
  if (shared) {
    return tx
        .Execute(
            "INSERT INTO derived_change (job, source, start_ms, end_ms, at_ms, run) SELECT job,"
            " source, start_ms, end_ms, at_ms, CAST(:number AS BIGINT) FROM derived_change WHERE "
            "job = :job AND"
            " run = :first",
            {run.number, run.job, first})
        .status();
  }
  return tx
      .Execute(
          "UPDATE derived_change SET run = :number WHERE job = :job AND (run = 0 OR run IN"
          " (SELECT number FROM derived_run WHERE job = :same AND state = 'FAILED'))",
          {run.number, run.job, run.job})
      .status();
}

absl::Status NameBackfill(store::Transaction& tx, const DerivedRun& run) {
  return tx
      .Execute("UPDATE derived_run SET backfill_id = :backfill WHERE number = :number",
               {run.backfill_id, run.number})
      .status();
}

absl::StatusOr<std::vector<DerivedRun>> OpenRuns(store::Transaction& tx, const std::string& job) {
  auto rows = tx.Query(
      "SELECT number, job, version, intervals, correction, backfill_id, why FROM derived_run"
      " WHERE job = :job AND state = 'OPEN' ORDER BY number",
      {job});
  if (!rows.ok()) return rows.status();
  std::vector<DerivedRun> runs;
  for (const store::Row& row : *rows) runs.push_back(RunOf(row));
  return runs;
}

absl::Status EndRun(store::Transaction& tx, const DerivedRun& run, bool well) {
  absl::Status status =
      tx.Execute("UPDATE derived_run SET state = :state, ended_ms = :now WHERE number = :number",
                 {std::string(well ? "DONE" : "FAILED"), tx.now(), run.number})
          .status();
  if (!status.ok() || !well) return status;
  return tx
      .Execute("DELETE FROM derived_change WHERE job = :job AND run = :number",
               {run.job, run.number})
      .status();
}

absl::Status DissolveRun(store::Transaction& tx, const DerivedRun& run) {
  absl::Status status =
      tx.Execute("UPDATE derived_change SET run = 0 WHERE job = :job AND run = :number",
                 {run.job, run.number})
          .status();
  if (!status.ok()) return status;
  return tx.Execute("DELETE FROM derived_run WHERE number = :number", {run.number}).status();
}

absl::StatusOr<bool> AtWork(store::Transaction& tx, const std::set<std::string>& datasources) {
  for (const std::string& datasource : datasources) {
    for (const char* sql :
         {"SELECT 1 FROM backfill WHERE datasource = :d AND phase IN ("
          "'PENDING', 'RUNNING', 'CANCELLING', 'ROLLING_BACK') LIMIT 1",
          "SELECT 1 FROM derived_change c JOIN derived_source s ON s.job = c.job WHERE"
          " s.target = :d AND c.run = 0 LIMIT 1",
          "SELECT 1 FROM derived_run r JOIN derived_source s ON s.job = r.job WHERE"
          " s.target = :d AND r.state = 'OPEN' LIMIT 1"}) {
      auto any = Any(tx, sql, datasource);
      if (!any.ok() || *any) return any;
    }
  }
  return false;
}

absl::StatusOr<Instant> LastProven(store::Transaction& tx,
                                   const std::set<std::string>& datasources) {
  Instant last = Instant::kMin;
  for (const std::string& datasource : datasources) {
    auto rows = tx.Query("SELECT MAX(end_ms) FROM backfill_done WHERE datasource = :datasource",
                         {datasource});
    if (!rows.ok()) return rows.status();
    if (!rows->front().IsNull(0)) last = std::max(last, rows->front().At(0));
  }
  return last;
}

absl::StatusOr<std::vector<Interval>> ProvenIn(store::Transaction& tx,
                                               const std::string& datasource,
                                               const Interval& interval) {
  auto rows = tx.Query(
      "SELECT start_ms, end_ms FROM backfill_done WHERE datasource = :datasource AND"
      " start_ms < :end AND end_ms > :start",
      {datasource, interval.end(), interval.start()});
  if (!rows.ok()) return rows.status();
  std::vector<Interval> proven;
  for (const store::Row& row : *rows) {
    auto one = Interval::Of(row.At(0), row.At(1));
    if (!one.ok()) return one.status();
    proven.push_back(*one);
  }
  return Intersect(Condense(std::move(proven)), {interval});
}

}  // namespace interlock::backfill
