#include "lib/lease/reservations.h"

namespace interlock::lease {

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
      }},
      {
          "UPDATE lease_datasource SET last_token ="
          " (SELECT number FROM store_facts WHERE name = 'token_floor')",
      }};
}

}  // namespace interlock::lease
