// A query that Druid runs as a task, as a backfill keeps it: the text and its context, in
// one JSON object where a task spec would stand.
//
// Threads: functions without state.
#pragma once

#include <string>

#include "lib/backfill/units.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

struct SqlWork {
  std::string query;
  std::string context;  // a JSON object, or ""
};

std::string ToJson(const SqlWork& work);
// An empty query where the text is none of ToJson's.
SqlWork SqlWorkFrom(const std::string& json);

// The query over one unit. `{start}` without a format is what a TIMESTAMP literal of SQL
// wants: `2026-07-16 13:00:00`.
std::string RenderQuery(const std::string& query, const Interval& unit);
// The body that runs it as a task: the id pinned, our identity in its context.
std::string RenderSql(const std::string& work_json, const Unit& unit, const TaskIdentity& identity);

// The id of a query, and of the task that Druid makes of it.
std::string SqlQueryId(const std::string& pinned_id);
std::string SqlTaskId(const std::string& query_id);

// Whether the work is a query: a task spec has no `query`.
bool IsSql(const std::string& work_json);

}  // namespace interlock::backfill
