#include "lib/sweep/weigh.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/verify/repeats.h"

namespace interlock::sweep {
namespace {

using druid::Slice;
using verify::Finding;

// Equal sums of so many metrics are no chance.
constexpr size_t kMaxMetrics = 8;

bool IsSign(const Finding& finding) {
  return finding.verdict == verify::Verdict::kDuplicateRows &&
         (finding.reason == "EQUAL_SIZE" || finding.reason == "APPENDED");
}

bool Names(const Finding& finding, const Slice& slice) {
  return std::any_of(slice.segments.begin(), slice.segments.end(), [&](const auto* segment) {
    return std::find(finding.segments.begin(), finding.segments.end(), segment->id) !=
           finding.segments.end();
  });
}

// Columns that add up; none where that can't be told.
std::vector<std::string> SummableIn(druid::Cluster& cluster, const std::string& datasource,
                                    const Interval& interval) {
  std::vector<std::string> summable;
  const auto columns = cluster.ListColumns(datasource, interval);
  if (!columns.done()) return summable;
  for (const auto& [name, type] : columns.value().types) {
    if (name != verify::kTime && columns.value().AddsUp(name)) summable.push_back(name);
  }
  return summable;
}

// What of a version is summed to weigh a sign; the first answer that was none.
struct Weights {
  std::vector<verify::SegmentSums> single;
  std::optional<verify::Totals> totals;
};

druid::Answer<Weights> WeightsOf(druid::Cluster& cluster, const std::string& datasource,
                                 const Slice& slice, const Finding& sign) {
  using Answer = druid::Answer<Weights>;
  const verify::Weighing weighing = verify::ToWeigh(sign, slice);
  std::vector<std::string> metrics = slice.segments.front()->metrics;
  if (metrics.empty()) metrics = SummableIn(cluster, datasource, slice.interval);
  if (metrics.size() > kMaxMetrics) metrics.resize(kMaxMetrics);
  metrics.emplace_back(verify::kTime);
  std::vector<druid::Segment> segments;
  for (const auto* segment : weighing.single) segments.push_back(*segment);
  auto sums = cluster.SumSegments(datasource, segments, metrics);
  if (!sums.done()) return Answer::Like(sums);
  Weights weights;
  for (size_t i = 0; i < segments.size(); ++i) {
    weights.single.push_back({weighing.single[i], sums.value()[i]});
  }
  if (weighing.appended.empty()) return Answer::Done(std::move(weights));
  weights.totals.emplace();
  for (const bool appended : {false, true}) {
    Slice part = slice;
    part.segments = appended ? weighing.appended : weighing.core;
    part.interval = slice.chunk;
    auto total = cluster.SumPublished(datasource, {part}, metrics);
    if (!total.done()) return Answer::Like(total);
    (appended ? weights.totals->appended : weights.totals->core) = std::move(total.value());
  }
  for (const auto* segment : weighing.appended) {
    weights.totals->appended_ids.push_back(segment->id);
  }
  return Answer::Done(std::move(weights));
}

// A sign that nobody could weigh is neither a fault nor none.
Finding NotWeighed(const Finding& sign, const std::string& why, const std::string& next) {
  Finding finding = verify::MakeFinding(
      verify::Verdict::kUndetermined,
      absl::StrCat(sign.evidence, "; the single segments' rows could not be summed: ", why),
      sign.segments, 1, "SIGN_NOT_WEIGHED");
  finding.next = next;
  return finding;
}

// What the single segments' sums make of a sign: a stronger one, a weaker one, or none.
std::optional<Finding> Weighed(druid::Cluster& cluster, const std::string& datasource,
                               const Interval& partition, const Finding& sign, Look* look) {
  std::optional<Finding> strongest;
  for (const Slice& slice : look->timeline.Visible(partition)) {
    if (!Names(sign, slice)) continue;
    const auto weights = WeightsOf(cluster, datasource, slice, sign);
    if (!weights.done()) {
      // A sum that is no number stays one; anything else may be told the next time.
      if (weights.cause() != druid::Cause::kGarbled) look->not_weighed = weights.text();
      return NotWeighed(sign, weights.text(), "look again when Druid answers");
    }
    auto found = verify::Weigh(weights.value().single, weights.value().totals);
    if (found && (!strongest || found->score > strongest->score)) strongest = std::move(found);
  }
  return strongest;
}

}  // namespace

void WeighSigns(druid::Cluster& cluster, const std::string& datasource, Look* look) {
  for (auto& verdict : look->verdicts) {
    const auto sign = std::find_if(verdict.findings.begin(), verdict.findings.end(), IsSign);
    if (sign == verdict.findings.end()) continue;
    if (verdict.unloaded_segments.value_or(look->unavailable) > 0) {
      *sign = NotWeighed(*sign, "not all of them are loaded", "look again once all is loaded");
      continue;
    }
    auto weighed = Weighed(cluster, datasource, verdict.partition, *sign, look);
    if (weighed) {
      *sign = *std::move(weighed);
    } else {
      verdict.findings.erase(sign);
    }
  }
}

}  // namespace interlock::sweep
