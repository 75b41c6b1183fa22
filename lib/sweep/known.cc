#include "lib/sweep/known.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/time/status_reason.h"

namespace interlock::sweep {
namespace {

// Of a list that is told to people.
constexpr size_t kMostNamed = 20;

bool Lists(const druid::Segment& segment, const std::string& metric) {
  return std::find(segment.metrics.begin(), segment.metrics.end(), metric) != segment.metrics.end();
}

enum class Listing { kNowhere, kSomewhere, kNothingThere };

Listing ListingOf(const druid::Timeline& timeline, const Interval& interval,
                  const std::string& metric) {
  Listing listing = Listing::kNothingThere;
  for (const auto& slice : timeline.Visible(interval)) {
    for (const auto* segment : slice.segments) {
      if (segment->tombstone()) continue;
      if (Lists(*segment, metric)) return Listing::kSomewhere;
      listing = Listing::kNowhere;
    }
  }
  return listing;
}

std::string NamesOf(const druid::Columns& columns) {
  std::vector<std::string> names;
  for (const auto& [name, type] : columns.types) {
    if (columns.AddsUp(name) && name != "__time" && names.size() < kMostNamed) {
      names.push_back(name);
    }
  }
  return names.empty() ? "none that add up" : absl::StrJoin(names, ", ");
}

absl::Status BadMetric(const char* reason, const SumOf& sum, const std::string& found,
                       const std::string& datasource, const druid::Columns& columns) {
  const std::string would_do =
      absl::StrCat("name a column of ", datasource, " that adds up: ", NamesOf(columns));
  absl::Status status = WithReason(absl::InvalidArgumentError(absl::StrCat(
                                       sum.field, ": '", sum.metric, "' ", found, "; ", would_do)),
                                   reason, {{"metric", sum.metric}, {"datasource", datasource}});
  AddFault(status, absl::StrCat("/", sum.field), found, would_do);
  return status;
}

}  // namespace

std::optional<NotTold> LookForDatasource(druid::Cluster& cluster, const std::string& datasource) {
  const auto names = cluster.ListDatasourcesEver();
  if (!names.done()) return NotTold{"NO_ANSWER", names.text(), ""};
  const auto& all = names.value();
  if (std::find(all.begin(), all.end(), datasource) != all.end()) return std::nullopt;
  return NotTold{"UNKNOWN_DATASOURCE",
                 absl::StrCat("Druid knows no datasource ", datasource,
                              ": its metadata lists no segment of it, used or unused"),
                 "check the name; Druid lists only what the credentials may read, and what a "
                 "stream writes only once it has published"};
}

absl::StatusOr<std::optional<NotTold>> CheckMetrics(druid::Cluster& cluster,
                                                    const std::string& datasource,
                                                    const Interval& interval,
                                                    const druid::Timeline& timeline,
                                                    const std::vector<SumOf>& metrics) {
  std::optional<druid::Columns> columns;
  for (const SumOf& sum : metrics) {
    const Listing listing = ListingOf(timeline, interval, sum.metric);
    if (listing == Listing::kNothingThere) return std::nullopt;
    if (!columns) {
      auto answer = cluster.ListColumns(datasource, interval);
      if (!answer.done()) return NotTold{"NO_ANSWER", answer.text(), ""};
      columns = std::move(answer).value();
    }
    if (columns->Has(sum.metric)) {
      if (columns->AddsUp(sum.metric)) continue;
      return BadMetric("METRIC_NOT_NUMERIC", sum,
                       absl::StrCat("is a column of the type ", columns->types.at(sum.metric)),
                       datasource, *columns);
    }
    if (listing == Listing::kSomewhere) continue;  // the broker will see it
    const auto load = cluster.GetLoadStatus(datasource, interval, /*refresh=*/true);
    if (!load.done()) return NotTold{"NO_ANSWER", load.text(), ""};
    if (load.value().unavailable_segments > 0) continue;  // nothing is counted before that
    if (columns->types.empty()) {
      return NotTold{
          "COLUMNS_NOT_TOLD",
          absl::StrCat("the broker shows no column of ", datasource, " in ", interval.ToString(),
                       ", so that ", sum.metric, " can't be looked for"),
          ""};
    }
    return BadMetric("UNKNOWN_METRIC", sum,
                     absl::StrCat("is no column of what is seen in ", interval.ToString()),
                     datasource, *columns);
  }
  return std::nullopt;
}

bool ListsMetric(const druid::Timeline& timeline, const Interval& partition,
                 const std::string& metric) {
  if (ListingOf(timeline, partition, metric) != Listing::kNowhere) return true;
  // Perhaps it is a dimension: then nobody lists it as a metric.
  return std::none_of(timeline.segments().begin(), timeline.segments().end(),
                      [&](const druid::Segment& segment) { return Lists(segment, metric); });
}

}  // namespace interlock::sweep
