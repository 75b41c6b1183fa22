#include "lib/audit/audit.h"

namespace interlock::audit {

store::Schema AuditSchema() {
  return {"audit",
          {{
               "CREATE TABLE audit_event (seq {{serial}}, at_ms BIGINT NOT NULL,"
               " identity TEXT NOT NULL, request_id TEXT NOT NULL, reason TEXT NOT NULL,"
               " method TEXT NOT NULL, datasource TEXT NOT NULL, subject TEXT NOT NULL,"
               " result TEXT NOT NULL, before_json TEXT NOT NULL, after_json TEXT NOT NULL)",
               "CREATE INDEX audit_event_by_datasource ON audit_event (datasource, seq)",
           },
           {
               "ALTER TABLE audit_event ADD COLUMN resource_type TEXT NOT NULL DEFAULT ''",
               "ALTER TABLE audit_event ADD COLUMN peer TEXT NOT NULL DEFAULT ''",
               // A stretch of the chain: `links` has, for each event in order, its row and
               // the chain's hash there ("seq:hash " …).
               "CREATE TABLE audit_block (first_position BIGINT NOT NULL PRIMARY KEY,"
               " last_position BIGINT NOT NULL, lowest_seq BIGINT NOT NULL,"
               " highest_seq BIGINT NOT NULL, hash_before TEXT NOT NULL, hash_after TEXT NOT NULL,"
               " at_ms BIGINT NOT NULL, links TEXT NOT NULL)",
               "CREATE INDEX audit_block_by_seq ON audit_block (highest_seq)",
               // One row: where the chain ends.
               "CREATE TABLE audit_head (id BIGINT NOT NULL PRIMARY KEY, position BIGINT NOT NULL,"
               " hash TEXT NOT NULL, highest_seq BIGINT NOT NULL)",
               "INSERT INTO audit_head (id, position, hash, highest_seq) VALUES (1, 0, '', 0)",
               // Numbers that were not there when a later one was chained.
               "CREATE TABLE audit_gap (first_seq BIGINT NOT NULL PRIMARY KEY,"
               " last_seq BIGINT NOT NULL, since_ms BIGINT NOT NULL)",
               // Where the chain stood at the end of what retention has taken away.
               "CREATE TABLE audit_checkpoint (position BIGINT NOT NULL PRIMARY KEY,"
               " hash TEXT NOT NULL, highest_seq BIGINT NOT NULL, at_ms BIGINT NOT NULL)",
           }},
          {}};
}

}  // namespace interlock::audit
