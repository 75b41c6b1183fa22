#include "lib/sweep/same_as.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace interlock::sweep {
namespace {

constexpr size_t kMostCompared = 32;

Twin NotToldOf(const TwinQuestion& question, const std::string& reason, const std::string& why) {
  Twin twin;
  twin.not_told =
      NotTold{reason, absl::StrCat("what ", question.same_as, " has can't be told: ", why), ""};
  return twin;
}

std::set<std::string> MetricsOf(const druid::Timeline& timeline, const Interval& interval) {
  std::set<std::string> metrics;
  for (const auto& slice : timeline.Visible(interval)) {
    for (const auto* segment : slice.segments) {
      metrics.insert(segment->metrics.begin(), segment->metrics.end());
    }
  }
  return metrics;
}

verify::Expected Expect(const TwinQuestion& question, const std::string& measure, double value,
                        bool whole) {
  verify::Expected expected;
  expected.measure = measure;
  expected.value = value;
  expected.whole = whole;
  expected.source = verify::RowSource::kDatasource;
  expected.from = absl::StrCat("datasource ", question.same_as);
  return expected;
}

}  // namespace

Twin ReadTwin(druid::Cluster& cluster, const TwinQuestion& question,
              const druid::Timeline& timeline) {
  const auto used = cluster.ListUsedSegments(question.same_as, {question.interval});
  if (!used.done()) return NotToldOf(question, "SAME_AS_NOT_TOLD", used.text());
  if (used.value().empty()) {
    if (auto unknown = LookForDatasource(cluster, question.same_as)) {
      return NotToldOf(question, unknown->reason, unknown->message);
    }
  }
  const auto load = cluster.GetLoadStatus(question.same_as, question.interval, question.refresh);
  if (!load.done()) return NotToldOf(question, "SAME_AS_NOT_TOLD", load.text());
  if (load.value().unavailable_segments > 0) {
    return NotToldOf(
        question, "SAME_AS_NOT_LOADED",
        absl::StrCat(load.value().unavailable_segments, " of its segments are not loaded"));
  }
  const auto own = cluster.ListColumns(question.datasource, question.interval);
  const auto other = cluster.ListColumns(question.same_as, question.interval);
  if (!own.done() || !other.done()) {
    return NotToldOf(question, "SAME_AS_NOT_TOLD", own.done() ? other.text() : own.text());
  }
  Twin twin;
  const auto both = [&](const std::string& metric) {
    return own.value().AddsUp(metric) && other.value().AddsUp(metric);
  };
  for (const std::string& metric : MetricsOf(timeline, question.interval)) {
    if (both(metric) && metric != question.count_metric && twin.metrics.size() < kMostCompared) {
      twin.metrics.push_back(metric);
    }
  }
  std::vector<std::string> summed = twin.metrics;
  if (!question.count_metric.empty()) {
    if (!used.value().empty() && !other.value().types.empty() &&
        !other.value().AddsUp(question.count_metric)) {
      return NotToldOf(question, "SAME_AS_NOT_TOLD",
                       absl::StrCat("it has no column ", question.count_metric, " that adds up"));
    }
    summed.push_back(question.count_metric);
  }
  const auto sums = cluster.SumRows(question.same_as, question.partitions, summed);
  if (!sums.done()) return NotToldOf(question, "SAME_AS_NOT_TOLD", sums.text());
  for (const druid::RowSums& part : sums.value()) {
    auto& expected = twin.expected[part.interval];
    for (const std::string& metric : twin.metrics) {
      const bool whole =
          own.value().types.at(metric) == "LONG" && other.value().types.at(metric) == "LONG";
      expected.push_back(Expect(question, metric, part.sums.at(metric), whole));
    }
    if (!question.count_metric.empty()) {
      expected.push_back(
          Expect(question, verify::kRows, part.sums.at(question.count_metric), true));
    } else if (twin.metrics.empty()) {
      expected.push_back(Expect(question, verify::kRows, static_cast<double>(part.rows), true));
    }
  }
  return twin;
}

}  // namespace interlock::sweep
