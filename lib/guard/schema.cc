#include "lib/guard/rows.h"

namespace interlock::guard {

store::Schema GuardSchema() {
  return {
      "guard",
      {{
          "CREATE TABLE guard_stream (datasource TEXT NOT NULL, stream TEXT NOT NULL,"
          " kind TEXT NOT NULL, supervisor_id TEXT NOT NULL, is_declared BIGINT NOT NULL,"
          " tail_ms BIGINT, reported_ms BIGINT, late_period_ms BIGINT, late_start_ms BIGINT,"
          " skip_ms BIGINT, has_spec BIGINT NOT NULL, accept_unbounded BIGINT NOT NULL,"
          " registered_by TEXT NOT NULL, reason TEXT NOT NULL, request_id TEXT NOT NULL,"
          " created_ms BIGINT NOT NULL, in_druid BIGINT NOT NULL, missing_ms BIGINT,"
          " spec_digest TEXT NOT NULL, topic TEXT NOT NULL, concurrent_locks BIGINT NOT NULL,"
          " suspended_for TEXT NOT NULL, source TEXT NOT NULL, bound_ms BIGINT,"
          " offset_ms BIGINT, enforced BIGINT NOT NULL, any_tail BIGINT NOT NULL,"
          " observed_ms BIGINT NOT NULL, stale BIGINT NOT NULL, health_ms BIGINT,"
          " state TEXT NOT NULL, suspended BIGINT NOT NULL, healthy BIGINT NOT NULL, lag BIGINT,"
          " thrown_away BIGINT NOT NULL, unparseable BIGINT NOT NULL, task_ids TEXT NOT NULL,"
          " errors TEXT NOT NULL, PRIMARY KEY (datasource, stream)) {{clustered}}",

          "CREATE TABLE guard_task (task_id TEXT NOT NULL PRIMARY KEY, datasource TEXT NOT NULL,"
          " stream TEXT NOT NULL, processed BIGINT NOT NULL, thrown_away BIGINT NOT NULL,"
          " unparseable BIGINT NOT NULL, first_ms BIGINT NOT NULL, ended_ms BIGINT,"
          " failed BIGINT NOT NULL)",
          "CREATE INDEX guard_task_of ON guard_task (datasource, stream)",
          "CREATE INDEX guard_task_live ON guard_task (task_id) WHERE ended_ms IS NULL",

          "CREATE TABLE guard_finding (number {{serial}}, subject TEXT NOT NULL,"
          " kind TEXT NOT NULL, reason TEXT NOT NULL, datasource TEXT NOT NULL,"
          " stream TEXT NOT NULL, intervals TEXT NOT NULL, message TEXT NOT NULL,"
          " remedy TEXT NOT NULL, backfill_id TEXT NOT NULL, task_ids TEXT NOT NULL,"
          " amount BIGINT NOT NULL, open_ms BIGINT NOT NULL, seen_ms BIGINT NOT NULL,"
          " close_ms BIGINT)",
          "CREATE UNIQUE INDEX guard_finding_open ON guard_finding (subject)"
          " WHERE close_ms IS NULL",
          "CREATE INDEX guard_finding_of ON guard_finding (datasource, number)",

          // Intervals that a backfill has proven where streams write: looked at again.
          "CREATE TABLE guard_proven (datasource TEXT NOT NULL, start_ms BIGINT NOT NULL,"
          " end_ms BIGINT NOT NULL, version TEXT NOT NULL, segments TEXT NOT NULL,"
          " backfill_id TEXT NOT NULL, proven_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL,"
          " look_ms BIGINT NOT NULL, PRIMARY KEY (datasource, start_ms)) {{clustered}}",
      }},
      {},
  };
}

}  // namespace interlock::guard
