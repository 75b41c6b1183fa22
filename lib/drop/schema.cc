// The tables of drops. Steps are never edited once released.
#include "lib/drop/rows.h"

namespace interlock::drop {

store::Schema DropSchema() {
  return {
      "drop",
      {{
           // One row: the position of the last change among those of all drops.
           "CREATE TABLE drop_sequence (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
           "INSERT INTO drop_sequence (name, value) VALUES ('change', 0)",
           "INSERT INTO drop_sequence (name, value) VALUES ('number', 0)",

           "CREATE TABLE drops (id TEXT PRIMARY KEY, number BIGINT NOT NULL,"
           " change_number BIGINT NOT NULL, datasource TEXT NOT NULL, intervals TEXT NOT NULL,"
           " start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, requested_by TEXT NOT NULL,"
           " holder TEXT NOT NULL, request_id TEXT NOT NULL, reason TEXT NOT NULL,"
           " labels TEXT NOT NULL, fingerprint TEXT NOT NULL, window_ms BIGINT NOT NULL,"
           " floor_ms BIGINT NOT NULL, needs_approval BIGINT NOT NULL,"
           " accepts_kill_duty BIGINT NOT NULL, accepts_partial_cover BIGINT NOT NULL,"
           " state TEXT NOT NULL, hold TEXT NOT NULL, message TEXT NOT NULL,"
           " objections TEXT NOT NULL, notes TEXT NOT NULL, cancel BIGINT NOT NULL,"
           " approved_by TEXT NOT NULL, approval_reason TEXT NOT NULL, approved_ms BIGINT,"
           " clock_accepted_ms BIGINT, restored_by TEXT NOT NULL, digest TEXT NOT NULL,"
           " segment_count BIGINT NOT NULL, hidden_count BIGINT NOT NULL,"
           " size_bytes BIGINT NOT NULL, metrics TEXT NOT NULL, sums_before TEXT, sums_after TEXT,"
           " created_ms BIGINT NOT NULL, marked_store_ms BIGINT, marked_wall_ms BIGINT,"
           " marked_druid_ms BIGINT, window_end_ms BIGINT, kill_started_ms BIGINT,"
           " restore_started_ms BIGINT, ended_ms BIGINT, reservation_id TEXT NOT NULL,"
           " token BIGINT NOT NULL, lent BIGINT NOT NULL, reservations BIGINT NOT NULL,"
           " called_ms BIGINT, intent_until_ms BIGINT, refusals BIGINT NOT NULL)",
           "CREATE UNIQUE INDEX drops_number ON drops (number)",
           "CREATE INDEX drops_datasource ON drops (datasource, number)",
           "CREATE INDEX drops_change ON drops (change_number)",
           "CREATE UNIQUE INDEX drops_request ON drops (requested_by, holder, request_id)"
           " WHERE request_id <> ''",

           "CREATE TABLE drop_segment (drop_id TEXT NOT NULL, place BIGINT NOT NULL,"
           " segment_id TEXT NOT NULL, start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL,"
           " version TEXT NOT NULL, partition_num BIGINT NOT NULL, size_bytes BIGINT NOT NULL,"
           " load_spec TEXT NOT NULL, tombstone BIGINT NOT NULL, hidden BIGINT NOT NULL,"
           " phase TEXT NOT NULL, sent_ms BIGINT, unused_ms BIGINT, file TEXT NOT NULL,"
           " kill_task TEXT NOT NULL, PRIMARY KEY (drop_id, place)) {{clustered}}",

           // Requests that changed a drop, so that a repeated one changes nothing.
           "CREATE TABLE drop_request (drop_id TEXT NOT NULL, request_id TEXT NOT NULL,"
           " method TEXT NOT NULL, PRIMARY KEY (drop_id, request_id)) {{clustered}}",

           "CREATE TABLE drop_kill (drop_id TEXT NOT NULL, number BIGINT NOT NULL,"
           " task_id TEXT NOT NULL, nonce TEXT NOT NULL, json TEXT NOT NULL,"
           " start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, versions TEXT NOT NULL,"
           " not_after_ms BIGINT NOT NULL, segments BIGINT NOT NULL, post TEXT NOT NULL,"
           " outcome TEXT NOT NULL, error TEXT NOT NULL, failure TEXT NOT NULL,"
           " reported BIGINT NOT NULL, shutdown_asked BIGINT NOT NULL, stored_ms BIGINT NOT NULL,"
           " ended_ms BIGINT, PRIMARY KEY (drop_id, number)) {{clustered}}",
       },
       {
           "ALTER TABLE drops ADD COLUMN retention_policy TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE drops ADD COLUMN retention_run_ms BIGINT",
           "ALTER TABLE drops ADD COLUMN cap TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE drops ADD COLUMN restore_reason TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE drops ADD COLUMN orphans BIGINT NOT NULL DEFAULT 0",
           "CREATE INDEX drops_retention ON drops (retention_policy, datasource, number)"
           " WHERE retention_policy <> ''",
           // When the last kill task of all was sent: they go out at a limited rate.
           "CREATE INDEX drop_kill_stored ON drop_kill (stored_ms)",
           // Jumps of the wall clock that were seen: kills wait for a person after one.
           "CREATE TABLE drop_clock_jump (at_ms BIGINT NOT NULL, by_ms BIGINT NOT NULL)",
           "CREATE INDEX drop_clock_jump_at ON drop_clock_jump (at_ms)",
           "CREATE TABLE retention_policy (name TEXT PRIMARY KEY, pattern TEXT NOT NULL,"
           " age TEXT NOT NULL, schedule TEXT NOT NULL, time_zone TEXT NOT NULL,"
           " window_ms BIGINT NOT NULL, floor_ms BIGINT NOT NULL, approval BIGINT NOT NULL,"
           " max_segments BIGINT NOT NULL, max_bytes BIGINT NOT NULL, max_share TEXT NOT NULL,"
           " dry_run BIGINT NOT NULL, updated_by TEXT NOT NULL, updated_ms BIGINT NOT NULL,"
           " next_run_ms BIGINT NOT NULL, run_ms BIGINT, run_message TEXT NOT NULL)",
       },
       {
           // When a kill task was first seen to run, not to wait.
           "ALTER TABLE drop_kill ADD COLUMN running_ms BIGINT",
           // Failures are counted and open tasks are looked for with every scrape.
           "CREATE INDEX drop_kill_failed ON drop_kill (drop_id) WHERE failure <> ''",
           "CREATE INDEX drop_kill_open ON drop_kill (drop_id) WHERE post <> 'ENDED'",
           // What a request asked for beside its method.
           "ALTER TABLE drop_request ADD COLUMN what TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE drops ADD COLUMN revivable BIGINT NOT NULL DEFAULT 0",
           "UPDATE drops SET revivable = (SELECT COUNT(*) FROM drop_segment s"
           " WHERE s.drop_id = drops.id AND s.phase IN ('SENT', 'MARKED'))",
       },
       {
           "ALTER TABLE drop_segment ADD COLUMN shard_type TEXT NOT NULL DEFAULT ''",
       }},
      {},
  };
}

}  // namespace interlock::drop
