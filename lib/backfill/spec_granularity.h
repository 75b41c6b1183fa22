// granularitySpec: the calendar of the segments, and the intervals that are replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/backfill/spec.h"
#include "lib/backfill/spec_node.h"
#include "lib/time/granularity.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

struct Granularities {
  std::optional<Granularity> segment;  // nullopt when missing or unknown
  bool rollup = true;                  // Druid's default
  // What the spec says, before anything narrowed or widened it; empty when it can't be told.
  std::vector<Interval> declared;
  // What is asked for: `declared` narrowed, or what was supplied instead.
  std::vector<Interval> asked;
  // What will be replaced: `asked`, widened where that was consented to. All condensed.
  std::vector<Interval> intervals;
  // The spec's own intervals are missing and none were supplied.
  bool missing_intervals = false;
};

// Whether a granularitySpec leaves its intervals to who runs it: none are there, or they
// are the placeholder "{start}/{end}".
bool HasOpenIntervals(const rapidjson::Value& granularity_spec);

Granularities CheckGranularitySpec(const Node& spec, const CheckOptions& options);

// A granularity as Druid's JSON has it: a name, or {type: period | duration, …}.
std::optional<Granularity> ReadGranularity(const Node& node);

}  // namespace interlock::backfill
