// A spec cut into units, one Druid task each.
//
// A unit is one partition where the input narrows with it, so that a task reads only what
// it writes; partitions whose input is the same text share one unit (a path with the day
// in it, under hourly segments). Where the input does not narrow, the unit is the whole
// interval: one task per partition would read everything each time.
//
// Pure. Threads: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/backfill/sources.h"
#include "lib/backfill/spec.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

struct Unit {
  std::vector<Interval> intervals;   // condensed; what its task replaces
  std::vector<Interval> partitions;  // in order; together exactly `intervals`

  Interval hull() const { return *Interval::Of(intervals.front().start(), intervals.back().end()); }
  // Names the unit within its datasource: its intervals, in Druid's words.
  std::string key() const;
};

struct Cut {
  std::vector<Unit> units;  // oldest first
  std::string why;          // how it was cut, in a sentence
  std::string finer;        // what would give finer restart points; "" when nothing would
};

// OUT_OF_RANGE (UNIT_TOO_LARGE) when a unit would hold more than `max_unit_partitions`.
absl::StatusOr<Cut> CutIntoUnits(const Spec& spec,
                                 int64_t max_unit_partitions = kMaxUnitPartitions);

// Who a task is, in its id and its context.
struct TaskIdentity {
  std::string task_id;
  std::string backfill_id;
  int64_t attempt = 0;
  std::string nonce;  // random, stored before the call
};

// The task to post for a unit: `spec_json` (Spec::json) with the id pinned, `intervals` and
// input narrowed, and the identity in its context. A druid input source that `reads` names
// reads what stands there; one that is corrected, where the corrections are.
std::string RenderTask(const std::string& spec_json, const Unit& unit, const TaskIdentity& identity,
                       const std::vector<SourceRead>& reads = {});

// The nonce in a task's context member kContextMember, or "".
std::string NonceIn(const std::string& context_member_json);

}  // namespace interlock::backfill
