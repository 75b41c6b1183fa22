#include "lib/seal/rows.h"

namespace interlock::seal {

store::Schema SealSchema() {
  return {
      "seal",
      {{
           "CREATE TABLE seal (number {{serial}}, datasource TEXT NOT NULL,"
           " start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, state TEXT NOT NULL,"
           " reason TEXT NOT NULL, label TEXT NOT NULL, sealed_by TEXT NOT NULL, request_id TEXT,"
           " fingerprint TEXT NOT NULL, policy TEXT NOT NULL, created_ms BIGINT NOT NULL,"
           " ids_digest TEXT NOT NULL, content_digest TEXT NOT NULL,"
           " seen_ids_digest TEXT NOT NULL, integrity TEXT NOT NULL, checked_ms BIGINT,"
           " snapshot TEXT NOT NULL, group_count BIGINT NOT NULL, unsealed_by TEXT NOT NULL,"
           " unseal_reason TEXT NOT NULL, unseal_until_ms BIGINT,"
           " corrections_datasource TEXT NOT NULL, correction_count BIGINT NOT NULL)",
           "CREATE UNIQUE INDEX seal_by_start ON seal (datasource, start_ms)",
           "CREATE UNIQUE INDEX seal_by_request ON seal (sealed_by, request_id)",

           "CREATE TABLE seal_bucket (seal BIGINT NOT NULL, start_ms BIGINT NOT NULL,"
           " end_ms BIGINT NOT NULL, sums TEXT NOT NULL, snapshot TEXT NOT NULL,"
           " PRIMARY KEY (seal, start_ms)) {{clustered}}",
           "CREATE TABLE seal_total (seal BIGINT NOT NULL, place BIGINT NOT NULL,"
           " groups_json TEXT NOT NULL, PRIMARY KEY (seal, place)) {{clustered}}",

           "CREATE TABLE seal_request (seal BIGINT NOT NULL, request_id TEXT NOT NULL,"
           " fingerprint TEXT NOT NULL, PRIMARY KEY (seal, request_id)) {{clustered}}",

           "CREATE TABLE seal_policy (name TEXT NOT NULL PRIMARY KEY, datasource_pattern TEXT NOT"
           " NULL, unit TEXT NOT NULL, age TEXT NOT NULL, time_zone TEXT NOT NULL,"
           " label TEXT NOT NULL, snapshot TEXT NOT NULL, corrections_datasource TEXT NOT NULL,"
           " accept_compaction BIGINT NOT NULL, updated_by TEXT NOT NULL,"
           " updated_ms BIGINT NOT NULL)",

           // A backfill that runs as a correction, until its difference is stored.
           "CREATE TABLE seal_correcting (backfill_id TEXT NOT NULL PRIMARY KEY, datasource TEXT"
           " NOT NULL, requested_by TEXT NOT NULL, reason TEXT NOT NULL, created_ms BIGINT NOT"
           " NULL, corrections_datasource TEXT NOT NULL, state TEXT NOT NULL)",
           "CREATE TABLE seal_correction (number {{serial}}, datasource TEXT NOT NULL,"
           " own_number BIGINT NOT NULL, start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL,"
           " seal BIGINT NOT NULL, seal_label TEXT NOT NULL, backfill_id TEXT NOT NULL,"
           " job TEXT NOT NULL, job_version BIGINT NOT NULL, requested_by TEXT NOT NULL,"
           " reason TEXT NOT NULL, created_ms BIGINT NOT NULL, corrections_datasource TEXT NOT"
           " NULL, deltas TEXT NOT NULL, delta_count BIGINT NOT NULL, was_totals TEXT NOT NULL,"
           " is_totals TEXT NOT NULL)",
           "CREATE UNIQUE INDEX seal_correction_once ON seal_correction (backfill_id, start_ms)",
           "CREATE UNIQUE INDEX seal_correction_number ON seal_correction (datasource, own_number)",
       },
       // Version 2: a correction that is run again is another one where its figures differ.
       {
           "DROP INDEX seal_correction_once",
           "CREATE INDEX seal_correction_by_backfill ON seal_correction (backfill_id, start_ms)",
       }},
      {}};
}

}  // namespace interlock::seal
