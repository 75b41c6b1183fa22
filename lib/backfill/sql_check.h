// A query as somebody sent it, held against the contract of a replacing backfill. What it
// replaces, and in which calendar, is told by Druid's own EXPLAIN PLAN and not by a parser
// of ours: it is asked what the query would do for a unit, and the answer must be that unit.
//
// Threads: any.
#pragma once

#include "absl/status/statusor.h"
#include "lib/backfill/spec.h"
#include "lib/backfill/sql_work.h"
#include "lib/druid/cluster.h"

namespace interlock::backfill {

// Faults at /sql/query, /sql/context and /intervals. Without `intervals` in the options it
// is checked over a unit of its calendar, and the spec's intervals are that unit: a job.
// Errors: UNAVAILABLE (DRUID_UNAVAILABLE); FAILED_PRECONDITION (SQL_TASKS_MISSING) where
// Druid runs no queries as tasks.
absl::StatusOr<SpecCheck> CheckSql(const SqlWork& work, const CheckOptions& options,
                                   druid::Cluster& cluster);

}  // namespace interlock::backfill
