#include "lib/backfill/twin.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"

namespace interlock::backfill {
namespace {

constexpr size_t kMostCompared = 32;

Twin NotTold(const RowTerms& terms, const std::string& why) {
  Twin twin;
  twin.why_not = absl::StrCat("what ", terms.same_as, " has can't be told: ", why);
  return twin;
}

bool Lists(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> TwinMetricsOf(const std::vector<std::string>& metrics,
                                       const std::string& count_metric) {
  std::vector<std::string> compared;
  for (const std::string& metric : metrics) {
    if (metric != count_metric && compared.size() < kMostCompared) compared.push_back(metric);
  }
  return compared;
}

absl::Status CheckTwin(druid::Cluster& cluster, const RowTerms& terms) {
  if (terms.same_as.empty()) return absl::OkStatus();
  const auto names = cluster.ListDatasources();
  if (!names.done() || Lists(names.value(), terms.same_as)) return absl::OkStatus();
  return ExpectationNotCheckable("expect.same_as_datasource",
                                 absl::StrCat("Druid lists no datasource ", terms.same_as));
}

Twin ReadTwin(druid::Cluster& cluster, const RowTerms& terms, const Unit& unit) {
  const auto load = cluster.GetLoadStatus(terms.same_as, unit.hull(), /*refresh=*/true);
  if (!load.done()) return NotTold(terms, load.text());
  if (load.value().unavailable_segments > 0) {
    return NotTold(
        terms, absl::StrCat(load.value().unavailable_segments, " of its segments are not loaded"));
  }
  if (!load.value().any_used) {
    // A datasource that is not there has no rows either.
    const auto names = cluster.ListDatasources();
    if (!names.done()) return NotTold(terms, names.text());
    if (!Lists(names.value(), terms.same_as)) return NotTold(terms, "Druid does not list it");
  }
  const auto columns = cluster.ListColumns(terms.same_as, unit.hull());
  if (!columns.done()) return NotTold(terms, columns.text());
  const bool any = load.value().any_used && !columns.value().types.empty();
  Twin twin;
  for (const std::string& metric : terms.twin_metrics) {
    if (!any || columns.value().AddsUp(metric)) twin.metrics.push_back(metric);
  }
  std::vector<std::string> summed = twin.metrics;
  if (terms.rule == RowRule::kCountMetric) {
    if (any && !columns.value().AddsUp(terms.count_metric)) {
      return NotTold(terms, absl::StrCat("it has no column ", terms.count_metric, " that adds up"));
    }
    summed.push_back(terms.count_metric);
  } else if (twin.metrics.empty() && terms.rule != RowRule::kStoredRows) {
    return NotTold(terms, "the two have no metric in common that adds up");
  }
  auto sums = cluster.SumRows(terms.same_as, SummedIn(unit, terms), summed);
  if (!sums.done()) return NotTold(terms, sums.text());
  twin.parts = std::move(sums.value());
  return twin;
}

}  // namespace interlock::backfill
