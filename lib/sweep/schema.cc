// The tables of sweeps. Steps are never edited once released.
#include "lib/sweep/findings.h"

namespace interlock::sweep {

store::Schema SweepSchema() {
  return {"sweep",
          {{
              "CREATE TABLE sweep_finding (number {{serial}}, datasource TEXT NOT NULL,"
              " kind TEXT NOT NULL, verdict TEXT NOT NULL, start_ms BIGINT NOT NULL,"
              " end_ms BIGINT NOT NULL, subject TEXT NOT NULL, reason TEXT NOT NULL,"
              " message TEXT NOT NULL, remedy TEXT NOT NULL, segments TEXT NOT NULL,"
              " score_permille BIGINT NOT NULL, digest TEXT NOT NULL, is_open BIGINT NOT NULL,"
              " opened_ms BIGINT NOT NULL, seen_ms BIGINT NOT NULL, closed_ms BIGINT)",
              // The arbiter of "opens once", whoever looks.
              "CREATE UNIQUE INDEX sweep_finding_open ON sweep_finding"
              " (datasource, kind, verdict, start_ms, end_ms, subject) WHERE is_open = 1",
              "CREATE INDEX sweep_finding_order ON sweep_finding (is_open, number)",

              // swept_ms: when the newest whole sweep ended; NULL if there was none.
              "CREATE TABLE sweep_datasource (name TEXT PRIMARY KEY, found_ms BIGINT NOT NULL,"
              " swept_ms BIGINT, streamed BIGINT NOT NULL, segments BIGINT NOT NULL,"
              " unavailable BIGINT NOT NULL)",
          }},
          {}};
}

}  // namespace interlock::sweep
