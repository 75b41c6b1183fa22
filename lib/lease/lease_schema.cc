#include "lib/lease/reservations.h"

namespace interlock::lease {

namespace {

// Tokens go on above all that can have been handed out since the backup: at the floor,
// which rises with the wall clock, or, where that clock was set back, far above the
// backup's own. Revisions likewise; a watch from before must begin anew.
std::vector<std::string> LiftedTokens() {
  return {
      "UPDATE lease_datasource SET last_token = CASE WHEN last_token <"
      " (SELECT number FROM store_facts WHERE name = 'token_floor') THEN"
      " (SELECT number FROM store_facts WHERE name = 'token_floor')"
      " ELSE last_token + 1073741824 END",
      "INSERT INTO lease_event (number, datasource, subject, at_ms, event, state, deadline_ms,"
      " detail) SELECT CASE WHEN COALESCE((SELECT MAX(number) FROM lease_event), 0) < number"
      " THEN number ELSE (SELECT MAX(number) FROM lease_event) + 1073741824 END,"
      " 0, 0, 0, '', '', 0, '' FROM store_facts WHERE name = 'token_floor'",
      "UPDATE lease_datasource SET trimmed_revision = (SELECT MAX(number) FROM lease_event)"};
}

// Nobody waits at a restored store yet.
std::vector<std::string> WithNobodyWaiting(std::vector<std::string> statements) {
  statements.push_back("DELETE FROM lease_waiter");
  statements.push_back("DELETE FROM lease_waiter_interval");
  return statements;
}

}  // namespace

store::Schema LeaseSchema() {
  return {
      "lease",
      {{
           "CREATE TABLE lease_datasource (number {{serial}}, name TEXT NOT NULL UNIQUE,"
           " last_token BIGINT NOT NULL, has_appends BIGINT NOT NULL)",

           "CREATE TABLE lease_reservation (datasource BIGINT NOT NULL, token BIGINT NOT NULL,"
           " live BIGINT NOT NULL, mode TEXT NOT NULL, state TEXT NOT NULL, holder TEXT NOT NULL,"
           " purpose TEXT NOT NULL, reason TEXT NOT NULL, request_id TEXT, labels TEXT NOT NULL,"
           " request TEXT NOT NULL, skipped TEXT NOT NULL, created_ms BIGINT NOT NULL,"
           " deadline_ms BIGINT NOT NULL, ended_ms BIGINT, PRIMARY KEY (datasource, token))"
           " {{clustered}}",
           // Nulls differ from each other on both engines: no id, no rule.
           "CREATE UNIQUE INDEX lease_reservation_by_request"
           " ON lease_reservation (holder, request_id)",
           "CREATE INDEX lease_reservation_live ON lease_reservation (datasource, holder, token)"
           " WHERE live = 1",

           "CREATE TABLE lease_interval (datasource BIGINT NOT NULL, token BIGINT NOT NULL,"
           " start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, mode TEXT NOT NULL,"
           " live BIGINT NOT NULL, PRIMARY KEY (datasource, token, start_ms)) {{clustered}}",
           "CREATE INDEX lease_interval_live ON lease_interval (datasource, mode, start_ms, end_ms)"
           " WHERE live = 1",

           "CREATE TABLE lease_pin (work_id TEXT NOT NULL PRIMARY KEY, datasource BIGINT NOT NULL,"
           " token BIGINT NOT NULL, start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL,"
           " link TEXT NOT NULL, since_ms BIGINT NOT NULL)",
           "CREATE INDEX lease_pin_by_reservation ON lease_pin (datasource, token)",
       },
       {
           // How many are live: an upper bound kept with each grant and end, so that a limit
           // of millions is not counted through for every grant. At the limit rows decide.
           "ALTER TABLE lease_datasource ADD COLUMN live_count BIGINT NOT NULL DEFAULT 0",
           "UPDATE lease_datasource SET live_count = (SELECT COUNT(*) FROM lease_reservation"
           " WHERE datasource = lease_datasource.number AND live = 1)",
           "CREATE TABLE lease_holder (datasource BIGINT NOT NULL, holder TEXT NOT NULL,"
           " live_count BIGINT NOT NULL, PRIMARY KEY (datasource, holder)) {{clustered}}",
           "INSERT INTO lease_holder (datasource, holder, live_count)"
           " SELECT datasource, holder, COUNT(*) FROM lease_reservation WHERE live = 1"
           " GROUP BY datasource, holder",
           // No live APPEND row is longer: where a search among them can stop.
           "ALTER TABLE lease_datasource ADD COLUMN longest_append_ms BIGINT NOT NULL DEFAULT 0",
           "UPDATE lease_datasource SET longest_append_ms = COALESCE((SELECT MAX(end_ms - start_ms)"
           " FROM lease_interval WHERE datasource = lease_datasource.number AND mode = 'APPEND'"
           " AND live = 1), 0)",
           "ALTER TABLE lease_datasource ADD COLUMN has_waiters BIGINT NOT NULL DEFAULT 0",
           "ALTER TABLE lease_datasource ADD COLUMN last_waiter BIGINT NOT NULL DEFAULT 0",
           "ALTER TABLE lease_datasource ADD COLUMN has_tails BIGINT NOT NULL DEFAULT 0",
           "ALTER TABLE lease_datasource ADD COLUMN trimmed_revision BIGINT NOT NULL DEFAULT 0",

           "ALTER TABLE lease_reservation ADD COLUMN identity TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE lease_reservation ADD COLUMN ttl_ms BIGINT NOT NULL DEFAULT 0",
           "UPDATE lease_reservation SET ttl_ms = deadline_ms - created_ms",
           "ALTER TABLE lease_reservation ADD COLUMN lock_delay_ms BIGINT NOT NULL DEFAULT 0",
           "ALTER TABLE lease_reservation ADD COLUMN calendar TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE lease_reservation ADD COLUMN link TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE lease_reservation ADD COLUMN has_loans BIGINT NOT NULL DEFAULT 0",
           "ALTER TABLE lease_reservation ADD COLUMN handed_over BIGINT NOT NULL DEFAULT 0",
           "ALTER TABLE lease_reservation ADD COLUMN forced_by TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE lease_reservation ADD COLUMN force_reason TEXT NOT NULL DEFAULT ''",
           "ALTER TABLE lease_reservation ADD COLUMN revision BIGINT NOT NULL DEFAULT 0",
           "CREATE INDEX lease_reservation_due ON lease_reservation (deadline_ms)"
           " WHERE live = 1 AND state = 'ACTIVE'",

           "CREATE TABLE lease_loan (datasource BIGINT NOT NULL, token BIGINT NOT NULL,"
           " link TEXT NOT NULL, intervals TEXT NOT NULL, PRIMARY KEY (datasource, token, link))"
           " {{clustered}}",

           "CREATE TABLE lease_waiter (datasource BIGINT NOT NULL, number BIGINT NOT NULL,"
           " turn BIGINT NOT NULL, mode TEXT NOT NULL, identity TEXT NOT NULL,"
           " holder TEXT NOT NULL, purpose TEXT NOT NULL, reason TEXT NOT NULL, request_id TEXT,"
           " labels TEXT NOT NULL, request TEXT NOT NULL, calendar TEXT NOT NULL,"
           " ttl_ms BIGINT NOT NULL, created_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL,"
           " alive_until_ms BIGINT NOT NULL, PRIMARY KEY (datasource, number)) {{clustered}}",
           "CREATE UNIQUE INDEX lease_waiter_by_request ON lease_waiter (holder, request_id)",
           "CREATE TABLE lease_waiter_interval (datasource BIGINT NOT NULL,"
           " number BIGINT NOT NULL, start_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL,"
           " PRIMARY KEY (datasource, number, start_ms)) {{clustered}}",

           "CREATE TABLE lease_tail (datasource BIGINT NOT NULL, stream TEXT NOT NULL,"
           " bound_ms BIGINT, offset_ms BIGINT, source TEXT NOT NULL, note TEXT NOT NULL,"
           " observed_ms BIGINT NOT NULL, PRIMARY KEY (datasource, stream)) {{clustered}}",

           // The number is the revision. The newest row of a datasource is never removed.
           "CREATE TABLE lease_event (number {{serial}}, datasource BIGINT NOT NULL,"
           " subject BIGINT NOT NULL, at_ms BIGINT NOT NULL, event TEXT NOT NULL,"
           " state TEXT NOT NULL, deadline_ms BIGINT NOT NULL, detail TEXT NOT NULL)",
           "CREATE INDEX lease_event_by_datasource ON lease_event (datasource, number)",
       },
       {
           // Should our own decision ever be wrong, the database refuses what overlaps. What
           // a grant clears (live = 0) is cleared before its own rows come.
           "{{postgresql}}CREATE EXTENSION IF NOT EXISTS btree_gist",
           "{{postgresql}}ALTER TABLE lease_interval ADD CONSTRAINT lease_replace_alone"
           " EXCLUDE USING gist (datasource WITH =, int8range(start_ms, end_ms) WITH &&)"
           " WHERE (live = 1 AND mode = 'REPLACE')",
           "{{postgresql}}ALTER TABLE lease_interval ADD CONSTRAINT lease_modes_apart"
           " EXCLUDE USING gist (datasource WITH =, int8range(start_ms, end_ms) WITH &&,"
           " mode WITH <>) WHERE (live = 1)",
       },
       {
           // Counted for who was authenticated, not for the names below that (live_counts.h).
           "DELETE FROM lease_holder",
           "INSERT INTO lease_holder (datasource, holder, live_count)"
           " SELECT datasource, CASE WHEN identity = '' THEN holder ELSE identity END, COUNT(*)"
           " FROM lease_reservation WHERE live = 1"
           " GROUP BY datasource, CASE WHEN identity = '' THEN holder ELSE identity END",
           "DROP INDEX lease_reservation_live",
           "CREATE INDEX lease_reservation_live ON lease_reservation (datasource, identity, token)"
           " WHERE live = 1",
       }},
      WithNobodyWaiting(LiftedTokens()),
      LiftedTokens(),
      // Each grant has an event, and both are lifted alike: no token is above it.
      "SELECT COALESCE(MAX(number), 0) FROM lease_event"};
}

}  // namespace interlock::lease
