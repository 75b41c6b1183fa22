// Whether Druid knows what a look asks about. Its other answers do not tell: a datasource
// that is not there has no segments, and a column that is not there sums to 0.
//
// Threads: any; each function asks Druid and blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/druid/cluster.h"
#include "lib/druid/timeline.h"
#include "lib/time/interval.h"

namespace interlock::sweep {

// Why something can't be told.
struct NotTold {
  std::string reason;  // UNKNOWN_DATASOURCE, NO_ANSWER …
  std::string message;
  std::string next;  // what would do; "" for the verdict's own words
};

// Nothing where the metadata store has segments of it, used or not.
std::optional<NotTold> LookForDatasource(druid::Cluster& cluster, const std::string& datasource);

// A column to sum, and the field of the request that names it.
struct SumOf {
  std::string metric;
  std::string field;
};
// Nothing where all can be summed in what is visible. INVALID_ARGUMENT: UNKNOWN_METRIC,
// METRIC_NOT_NUMERIC, with the columns that there are.
absl::StatusOr<std::optional<NotTold>> CheckMetrics(druid::Cluster& cluster,
                                                    const std::string& datasource,
                                                    const Interval& interval,
                                                    const druid::Timeline& timeline,
                                                    const std::vector<SumOf>& metrics);

// Whether what is visible of a partition lists the metric, where anything in the timeline
// does: rows that are written without it sum to 0.
bool ListsMetric(const druid::Timeline& timeline, const Interval& partition,
                 const std::string& metric);

}  // namespace interlock::sweep
