// How the rows of a unit are compared, and what its caller expects of them.
//
// Threads: values, and functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/backfill/expectation.h"
#include "lib/backfill/spec.h"
#include "lib/backfill/units.h"
#include "lib/druid/task.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

struct RowTerms {
  RowRule rule = RowRule::kNotProvable;
  std::string rule_reason;  // why not provable
  std::string count_metric;
  std::vector<std::pair<std::string, std::string>> sums;  // source → target column
  std::optional<int64_t> min_rows;         // per partition; default 1 where there were rows, else 0
  int64_t max_unparseable = 0;             // of the whole backfill
  std::vector<ExpectedSum> expected_sums;  // over the whole backfill
  std::vector<ExpectedPartition> expected_partitions;
  // A datasource that must have the same in the same time, "" for none; and the metrics that
  // are compared with it beside the rows.
  std::string same_as;
  std::vector<std::string> twin_metrics;
};

// Metrics to sum for these terms, in what is written.
std::vector<std::string> MetricsOf(const RowTerms& terms);
// The time to sum a unit's rows in: partition by partition where there are few, and where
// something is expected of one; disjoint, and together the unit.
std::vector<Interval> SummedIn(const Unit& unit, const RowTerms& terms);

// What is expected of this partition alone; null where nothing is.
const ExpectedPartition* ExpectedIn(const RowTerms& terms, const Interval& partition);

// One partition after its task.
struct PartitionRows {
  Interval partition;
  bool had_rows = false;        // before
  bool empty = false;           // now
  std::optional<int64_t> rows;  // raw ones, where they are known
};
// What of the partition is not as expected, as a reason and a sentence; both "" where all is.
std::pair<std::string, std::string> Breach(const RowTerms& terms, const PartitionRows& found,
                                           const std::vector<druid::RowSums>& sums);

// Sums of doubles are added in another order after a re-index: equal but for 1e-9 of them.
bool EqualSums(double a, double b);

}  // namespace interlock::backfill
