#include "lib/backfill/row_terms.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lib/backfill/options.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

constexpr double kSumTolerance = 1e-9;

std::optional<double> FoundIn(const std::vector<druid::RowSums>& sums, const Interval& partition,
                              const std::string& metric) {
  for (const druid::RowSums& one : sums) {
    if (one.interval != partition) continue;
    if (const auto it = one.sums.find(metric); it != one.sums.end()) return it->second;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> MetricsOf(const RowTerms& terms) {
  std::vector<std::string> metrics;
  if (terms.rule == RowRule::kCountMetric) metrics.push_back(terms.count_metric);
  if (terms.rule == RowRule::kSourceSums) {
    for (const auto& [source, target] : terms.sums) metrics.push_back(target);
  }
  const auto add = [&](const std::vector<ExpectedSum>& sums) {
    for (const ExpectedSum& sum : sums) {
      if (std::find(metrics.begin(), metrics.end(), sum.metric) == metrics.end()) {
        metrics.push_back(sum.metric);
      }
    }
  };
  add(terms.expected_sums);
  for (const ExpectedPartition& one : terms.expected_partitions) add(one.sums);
  for (const std::string& metric : terms.twin_metrics) {
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
      metrics.push_back(metric);
    }
  }
  return metrics;
}

std::vector<Interval> SummedIn(const Unit& unit, const RowTerms& terms) {
  if (unit.partitions.size() <= kMaxSummedPartitions) return unit.partitions;
  std::vector<Interval> alone;
  for (const ExpectedPartition& one : terms.expected_partitions) {
    if (std::binary_search(unit.partitions.begin(), unit.partitions.end(), one.interval)) {
      alone.push_back(one.interval);
    }
  }
  std::vector<Interval> all = Subtract(unit.intervals, Condense(alone));
  all.insert(all.end(), alone.begin(), alone.end());
  return all;
}

const ExpectedPartition* ExpectedIn(const RowTerms& terms, const Interval& partition) {
  for (const ExpectedPartition& one : terms.expected_partitions) {
    if (one.interval == partition) return &one;
  }
  return nullptr;
}

std::pair<std::string, std::string> Breach(const RowTerms& terms, const PartitionRows& found,
                                           const std::vector<druid::RowSums>& sums) {
  const std::optional<int64_t> rows = found.empty ? std::optional<int64_t>(0) : found.rows;
  const int64_t least = terms.min_rows.value_or(found.had_rows ? 1 : 0);
  if (!found.empty && rows && *rows < least) {
    return {"TOO_FEW_ROWS", absl::StrCat(*rows, " rows, and at least ", least, " are expected")};
  }
  const ExpectedPartition* expected = ExpectedIn(terms, found.partition);
  if (expected == nullptr) return {};
  if (expected->rows && rows && *rows != *expected->rows) {
    return {"ROWS_DIFFER", absl::StrCat(*rows, " rows, and ", *expected->rows, " are expected")};
  }
  for (const ExpectedSum& sum : expected->sums) {
    const std::optional<double> value =
        found.empty ? std::optional<double>(0) : FoundIn(sums, found.partition, sum.metric);
    if (value && !Fulfils(sum, *value)) return {"SUMS_DIFFER", Differs(sum, *value)};
  }
  return {};
}

bool EqualSums(double a, double b) {
  return std::fabs(a - b) <= kSumTolerance * std::max(std::fabs(a), std::fabs(b));
}

}  // namespace interlock::backfill
