#include "lib/backfill/derived_rows.h"
#include "lib/backfill/rows.h"

namespace interlock::backfill {
namespace {

// Version 2: jobs, and rollbacks.
std::vector<std::string> JobsAndRollbacks() {
  return {
      "ALTER TABLE backfill ADD COLUMN job TEXT NOT NULL DEFAULT ''",
      "ALTER TABLE backfill ADD COLUMN job_version BIGINT NOT NULL DEFAULT 0",
      // How long the former generation is kept for a rollback.
      "ALTER TABLE backfill ADD COLUMN rollback_ms BIGINT NOT NULL DEFAULT 0",

      "CREATE TABLE job_version (name TEXT NOT NULL, version BIGINT NOT NULL, kind TEXT NOT NULL,"
      " work TEXT NOT NULL, datasource TEXT NOT NULL, granularity TEXT NOT NULL,"
      " digest TEXT NOT NULL, expect TEXT NOT NULL, labels TEXT NOT NULL,"
      " created_by TEXT NOT NULL, request_id TEXT NOT NULL, created_ms BIGINT NOT NULL,"
      " PRIMARY KEY (name, version)) {{clustered}}",
      "CREATE INDEX job_version_by_request ON job_version (created_by, request_id)",

      "CREATE TABLE backfill_rollback (backfill_id TEXT NOT NULL, start_ms BIGINT NOT NULL,"
      " end_ms BIGINT NOT NULL, step TEXT NOT NULL, message TEXT NOT NULL, version TEXT NOT NULL,"
      " old_ids TEXT NOT NULL,"
      " new_ids TEXT NOT NULL, accept_foreign BIGINT NOT NULL, requested_by TEXT NOT NULL,"
      " request_reason TEXT NOT NULL, request_id TEXT NOT NULL, reservation_id TEXT NOT NULL,"
      " token BIGINT NOT NULL, called_ms BIGINT, hole_ms BIGINT, gap_ms BIGINT,"
      " PRIMARY KEY (backfill_id, start_ms)) {{clustered}}",
  };
}

// Version 3: what was replaced is marked unused once it can no longer be brought back.
std::vector<std::string> Retirements() {
  return {
      "CREATE TABLE backfill_retirement (backfill_id TEXT NOT NULL, start_ms BIGINT NOT NULL,"
      " end_ms BIGINT NOT NULL, step TEXT NOT NULL, message TEXT NOT NULL, ids TEXT NOT NULL,"
      " reservation_id TEXT NOT NULL, token BIGINT NOT NULL, called_ms BIGINT, clear_ms BIGINT,"
      " PRIMARY KEY (backfill_id, start_ms)) {{clustered}}",
  };
}

// Version 4: what is expected over the whole, and a deadline of the whole.
std::vector<std::string> TotalsAndDeadlines() {
  return {
      "ALTER TABLE backfill ADD COLUMN deadline_ms BIGINT",
      // Whether its totals were held against what is expected, since something ran last.
      "ALTER TABLE backfill ADD COLUMN totals_judged BIGINT NOT NULL DEFAULT 0",
      "ALTER TABLE backfill_unit ADD COLUMN sums_in TEXT",
      "ALTER TABLE backfill_attempt ADD COLUMN abandoned_by TEXT NOT NULL DEFAULT ''",
      "ALTER TABLE backfill_attempt ADD COLUMN abandon_reason TEXT NOT NULL DEFAULT ''",
  };
}

// Version 6: what is in a partition's way, what was found of it, what lay next door.
std::vector<std::string> WhatIsTold() {
  return {
      "ALTER TABLE backfill_unit ADD COLUMN blockers TEXT NOT NULL DEFAULT ''",
      "ALTER TABLE backfill_unit ADD COLUMN thrown_away BIGINT NOT NULL DEFAULT 0",
      "ALTER TABLE backfill_partition ADD COLUMN findings TEXT NOT NULL DEFAULT ''",
      // Segments that were read next door after the attempt.
      "ALTER TABLE backfill_attempt ADD COLUMN after_look TEXT NOT NULL DEFAULT ''",
  };
}

}  // namespace

store::Schema BackfillSchema() {
  return {
      "backfill",
      {{
           "CREATE TABLE backfill (id TEXT PRIMARY KEY, number BIGINT NOT NULL UNIQUE,"
           " revision BIGINT NOT NULL, phase TEXT NOT NULL, reason TEXT NOT NULL,"
           " message TEXT NOT NULL, pause BIGINT NOT NULL, cancel BIGINT NOT NULL,"
           " datasource TEXT NOT NULL, intervals TEXT NOT NULL, start_ms BIGINT NOT NULL,"
           " end_ms BIGINT NOT NULL, granularity TEXT NOT NULL, spec TEXT NOT NULL,"
           " digest TEXT NOT NULL, label TEXT NOT NULL, requested_by TEXT NOT NULL,"
           " holder TEXT NOT NULL, request_id TEXT NOT NULL, fingerprint TEXT NOT NULL,"
           " purpose TEXT NOT NULL, request_reason TEXT NOT NULL, labels TEXT NOT NULL,"
           " reprocess BIGINT NOT NULL, max_parallel BIGINT NOT NULL, max_attempts BIGINT NOT NULL,"
           " newest_first BIGINT NOT NULL, skip_held BIGINT NOT NULL, level BIGINT NOT NULL,"
           " waiting_ms BIGINT NOT NULL, run_ms BIGINT NOT NULL, terms TEXT NOT NULL,"
           " expected_rows BIGINT, druid_source TEXT NOT NULL, why_cut TEXT NOT NULL,"
           " finer TEXT NOT NULL, notices TEXT NOT NULL, reservation_id TEXT NOT NULL,"
           " token BIGINT NOT NULL, lent BIGINT NOT NULL, reservations BIGINT NOT NULL,"
           " renew_ms BIGINT, created_ms BIGINT NOT NULL, started_ms BIGINT, ended_ms BIGINT)",
           // An id that a caller chose makes one backfill, whatever is sent again.
           "CREATE UNIQUE INDEX backfill_by_request ON backfill (requested_by, holder, request_id)"
           " WHERE request_id <> ''",
           "CREATE INDEX backfill_by_work ON backfill (datasource, digest)",
           "CREATE INDEX backfill_by_datasource ON backfill (datasource, number)",

           "CREATE TABLE backfill_unit (backfill_id TEXT NOT NULL, number BIGINT NOT NULL,"
           " datasource TEXT NOT NULL, unit_key TEXT NOT NULL, start_ms BIGINT NOT NULL,"
           " end_ms BIGINT NOT NULL, state TEXT NOT NULL, open BIGINT NOT NULL,"
           " reason TEXT NOT NULL, message TEXT NOT NULL, attempts BIGINT NOT NULL,"
           " task_id TEXT NOT NULL, reservation_id TEXT NOT NULL, token BIGINT NOT NULL,"
           " due_ms BIGINT NOT NULL, rows_in BIGINT, unparseable BIGINT NOT NULL,"
           " PRIMARY KEY (backfill_id, number)) {{clustered}}",
           "CREATE INDEX backfill_unit_by_state ON backfill_unit (backfill_id, state, number, "
           "due_ms)",
           "CREATE INDEX backfill_unit_open ON backfill_unit (datasource) WHERE open = 1",

           "CREATE TABLE backfill_partition (backfill_id TEXT NOT NULL, start_ms BIGINT NOT NULL,"
           " end_ms BIGINT NOT NULL, unit BIGINT NOT NULL, state TEXT NOT NULL,"
           " reason TEXT NOT NULL, message TEXT NOT NULL, since_ms BIGINT NOT NULL,"
           " revision BIGINT NOT NULL, proof TEXT, PRIMARY KEY (backfill_id, start_ms))"
           " {{clustered}}",
           "CREATE INDEX backfill_partition_by_unit ON backfill_partition (backfill_id, unit)",
           "CREATE INDEX backfill_partition_by_revision ON backfill_partition"
           " (backfill_id, revision)",

           "CREATE TABLE backfill_attempt (task_id TEXT PRIMARY KEY, datasource TEXT NOT NULL,"
           " unit_key TEXT NOT NULL, number BIGINT NOT NULL, backfill_id TEXT NOT NULL,"
           " unit BIGINT NOT NULL, nonce TEXT NOT NULL, state TEXT NOT NULL,"
           " posts BIGINT NOT NULL, reservation_id TEXT NOT NULL, token BIGINT NOT NULL,"
           " start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, before_look TEXT NOT NULL,"
           " intended_ms BIGINT NOT NULL, posted_ms BIGINT, running_ms BIGINT, ended_ms BIGINT,"
           " settled_ms BIGINT, shutdown_ms BIGINT, druid_status TEXT NOT NULL,"
           " druid_error TEXT NOT NULL, druid_created_ms BIGINT, druid_ended_ms BIGINT,"
           " locks TEXT NOT NULL, others_seen BIGINT NOT NULL, task_rows TEXT,"
           " UNIQUE (datasource, unit_key, number))",
           "CREATE INDEX backfill_attempt_by_unit ON backfill_attempt (backfill_id, unit)",
           "CREATE INDEX backfill_attempt_by_time ON backfill_attempt (datasource, start_ms)",

           "CREATE TABLE backfill_done (datasource TEXT NOT NULL, start_ms BIGINT NOT NULL,"
           " end_ms BIGINT NOT NULL, digest TEXT NOT NULL, version TEXT NOT NULL,"
           " backfill_id TEXT NOT NULL, at_ms BIGINT NOT NULL,"
           " PRIMARY KEY (datasource, start_ms, end_ms)) {{clustered}}",

           "CREATE TABLE backfill_counter (last_number BIGINT NOT NULL,"
           " last_revision BIGINT NOT NULL)",
           "INSERT INTO backfill_counter (last_number, last_revision) VALUES (0, 0)",
       },
       JobsAndRollbacks(),
       Retirements(),
       TotalsAndDeadlines(),
       DerivedTables(),
       WhatIsTold()},
      {}};
}

}  // namespace interlock::backfill
