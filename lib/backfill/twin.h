// Another datasource that must have the same rows and sums as what a backfill writes: a
// copy, a second pipeline over the same input.
//
// Compared are the rows by the count metric, and all metrics that both have and that add
// up; stored rows only where there is no such metric, since roll-up changes their number.
//
// Threads: any; asks Druid and blocks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/backfill/row_terms.h"
#include "lib/backfill/units.h"
#include "lib/druid/cluster.h"

namespace interlock::backfill {

struct Twin {
  std::string why_not;                // why it can't be told; "" where it is
  std::vector<std::string> metrics;   // that both have
  std::vector<druid::RowSums> parts;  // of the intervals that the unit is summed in
};

// Of the metrics that a spec's target adds up, those to compare beside the rows.
std::vector<std::string> TwinMetricsOf(const std::vector<std::string>& metrics,
                                       const std::string& count_metric);

// FAILED_PRECONDITION, EXPECTATION_NOT_CHECKABLE, for a datasource that Druid does not list.
// One that does not answer now is asked when there is something to compare.
absl::Status CheckTwin(druid::Cluster& cluster, const RowTerms& terms);

Twin ReadTwin(druid::Cluster& cluster, const RowTerms& terms, const Unit& unit);

}  // namespace interlock::backfill
