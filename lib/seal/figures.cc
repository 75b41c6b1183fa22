#include "lib/seal/figures.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "lib/druid/timeline.h"
#include "lib/seal/figures_json.h"
#include "lib/seal/seal_errors.h"
#include "lib/seal/snapshot_query.h"
#include "lib/verify/calendar.h"
#include "lib/verify/neighbours.h"

namespace interlock::seal {
namespace {

constexpr char kRows[] = "rows";
constexpr double kTolerance = 1e-9;
constexpr int64_t kMostPartitions = 10'000;

absl::Status CheckSlices(const druid::Timeline& timeline, const Interval& interval) {
  Interval whole = interval;
  for (const druid::Slice& slice : timeline.Visible(interval)) {
    if (slice.has_unknown_shards || !slice.complete) {
      return NotSingleVersion(slice.interval, "what is visible there can't be told");
    }
    whole = *Interval::Of(std::min(whole.start(), slice.chunk.start()),
                          std::max(whole.end(), slice.chunk.end()));
    if (!interval.Contains(slice.chunk)) return Misaligned(interval, slice.chunk, whole);
  }
  for (const druid::Generation& half : timeline.Incomplete()) {
    if (half.interval.Overlaps(interval)) {
      return NotSingleVersion(half.interval, "a version is there in part: " + half.version);
    }
  }
  return absl::OkStatus();
}

// At most kMostBuckets: neighbours are taken together.
std::vector<Interval> Merged(const std::vector<Interval>& partitions) {
  const size_t each = (partitions.size() + kMostBuckets - 1) / kMostBuckets;
  std::vector<Interval> merged;
  for (size_t i = 0; i < partitions.size(); i += each) {
    const size_t last = std::min(partitions.size(), i + each) - 1;
    merged.push_back(*Interval::Of(partitions[i].start(), partitions[last].end()));
  }
  return merged;
}

std::vector<std::string> MetricsOf(const druid::Timeline& timeline) {
  std::set<std::string> metrics;
  for (const druid::Segment& segment : timeline.segments()) {
    metrics.insert(segment.metrics.begin(), segment.metrics.end());
  }
  return {metrics.begin(), metrics.end()};
}

Value ValueOf(const std::string& metric, const druid::SqlCell& cell) {
  Value value;
  value.metric = metric;
  value.is_double = cell.kind == druid::SqlCell::Kind::kBroken;
  value.whole = cell.whole;
  value.broken = cell.broken;
  return value;
}

absl::StatusOr<Group> GroupOf(const druid::SqlRow& row, const SnapshotSpec& spec) {
  Group group;
  if (row.size() != spec.dimensions.size() + spec.aggregates.size()) {
    return DruidUnavailable("a row of the snapshot does not have the columns asked for");
  }
  for (size_t i = 0; i < spec.dimensions.size(); ++i) group.key[spec.dimensions[i]] = row[i].text;
  for (size_t i = 0; i < spec.aggregates.size(); ++i) {
    const druid::SqlCell& cell = row[spec.dimensions.size() + i];
    if (cell.kind == druid::SqlCell::Kind::kNull) continue;  // of no rows
    if (cell.kind == druid::SqlCell::Kind::kText) {
      return InvalidSnapshot(absl::StrCat("aggregates/", i, "/expression"),
                             absl::StrCat("gives '", cell.text, "'"), "take one that is a number");
    }
    group.values.push_back(ValueOf(spec.aggregates[i].name, cell));
  }
  return group;
}

// Whole where it is: below 2^53 a double is exact, and a sum of longs reads as one.
Value SumOf(const std::string& metric, double sum) {
  constexpr double kExact = 9007199254740992.0;
  if (sum == std::floor(sum) && std::fabs(sum) < kExact) {
    return {metric, false, static_cast<int64_t>(sum), 0.0};
  }
  return {metric, true, 0, sum};
}

bool HasRows(const std::vector<Value>& sums) {
  for (const Value& value : sums) {
    if (value.metric == kRows) return value.whole > 0;
  }
  return false;
}

const Value* Find(const std::vector<Value>& values, const std::string& metric) {
  for (const Value& value : values) {
    if (value.metric == metric) return &value;
  }
  return nullptr;
}

bool SameValues(const std::vector<Value>& a, const std::vector<Value>& b, bool with_rows) {
  std::set<std::string> metrics;
  for (const auto* values : {&a, &b}) {
    for (const Value& value : *values) metrics.insert(value.metric);
  }
  if (!with_rows) metrics.erase(kRows);
  for (const std::string& metric : metrics) {
    const Value* left = Find(a, metric);
    const Value* right = Find(b, metric);
    const Value none{metric, false, 0, 0.0};
    if (!SameValue(left == nullptr ? none : *left, right == nullptr ? none : *right)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Layout> ReadLayout(druid::Cluster& cluster, const std::string& datasource,
                                  const Interval& interval) {
  auto used = cluster.ListUsedSegments(datasource, {interval});
  if (!used.done()) return DruidUnavailable(used.text());
  const druid::Timeline timeline = druid::Timeline::Of(std::move(used).value());
  if (absl::Status status = CheckSlices(timeline, interval); !status.ok()) return status;
  Layout layout;
  layout.ids_digest = verify::VisibleSetOf(timeline, {interval}).digest;
  for (const druid::Slice& slice : timeline.Visible(interval)) {
    layout.any_visible = true;
    layout.any_rows = layout.any_rows || !slice.tombstone();
  }
  auto partitions = verify::PartitionsOf(timeline, interval, verify::CalendarOf(timeline, interval),
                                         kMostPartitions);
  if (!partitions.ok()) return partitions.status();
  layout.buckets = Merged(*partitions);
  layout.metrics = MetricsOf(timeline);
  return layout;
}

absl::StatusOr<std::vector<Value>> ReadSums(druid::Cluster& cluster, const std::string& datasource,
                                            const Interval& interval,
                                            const std::vector<std::string>& metrics) {
  std::vector<Value> values;
  auto sums = cluster.SumRows(datasource, {interval}, metrics);
  if (sums.done() && sums.value().size() == 1) {
    const druid::RowSums& all = sums.value().front();
    values.push_back({kRows, false, all.rows, 0.0});
    for (const auto& [metric, sum] : all.sums) values.push_back(SumOf(metric, sum));
    return values;
  }
  if (metrics.empty()) return DruidUnavailable(sums.text());
  // Perhaps one column does not add up (a sketch): each by itself, then.
  auto rows = ReadSums(cluster, datasource, interval, {});
  if (!rows.ok() || metrics.size() == 1) return rows;
  values = *std::move(rows);
  for (const std::string& metric : metrics) {
    auto one = cluster.SumRows(datasource, {interval}, {metric});
    if (one.unknown()) return DruidUnavailable(one.text());
    if (!one.done() || one.value().size() != 1) continue;
    values.push_back(SumOf(metric, one.value().front().sums.at(metric)));
  }
  return values;
}

absl::StatusOr<std::vector<Group>> ReadSnapshot(druid::Cluster& cluster,
                                                const std::string& datasource,
                                                const Interval& interval,
                                                const SnapshotSpec& spec) {
  std::vector<Group> groups;
  if (spec.aggregates.empty()) return groups;
  auto rows =
      cluster.QuerySql(SnapshotQuery(datasource, interval, spec, kMostGroups + 1), kMostGroups + 1);
  if (rows.refused()) {
    return InvalidSnapshot("aggregates", absl::StrCat("was refused by Druid: ", rows.text()),
                           "try the expressions in a query of your own");
  }
  if (!rows.done()) return DruidUnavailable(rows.text());
  if (static_cast<int64_t>(rows.value().size()) > kMostGroups) return SnapshotTooLarge(kMostGroups);
  for (const druid::SqlRow& row : rows.value()) {
    auto group = GroupOf(row, spec);
    if (!group.ok()) return group.status();
    if (!group->values.empty()) groups.push_back(*std::move(group));
  }
  std::sort(groups.begin(), groups.end(),
            [](const Group& a, const Group& b) { return a.key < b.key; });
  return groups;
}

absl::StatusOr<Figures> ReadFigures(druid::Cluster& cluster, const std::string& datasource,
                                    const Interval& interval, const Layout& layout,
                                    const SnapshotSpec& spec) {
  Figures figures;
  int64_t groups = 0;
  for (const Interval& partition : layout.buckets) {
    Bucket bucket{partition, {}, {}};
    auto sums = ReadSums(cluster, datasource, partition, layout.metrics);
    if (!sums.ok()) return sums.status();
    bucket.sums = *std::move(sums);
    // SQL does not know a datasource without rows; nor is there anything to ask.
    if (layout.any_rows && HasRows(bucket.sums)) {
      auto snapshot = ReadSnapshot(cluster, datasource, partition, spec);
      if (!snapshot.ok()) return snapshot.status();
      bucket.snapshot = *std::move(snapshot);
    }
    groups += static_cast<int64_t>(bucket.snapshot.size());
    if (groups > kMostGroups) return SnapshotTooLarge(kMostGroups);
    figures.buckets.push_back(std::move(bucket));
  }
  if (layout.any_rows) {
    auto totals = ReadSnapshot(cluster, datasource, interval, spec);
    if (!totals.ok()) return totals.status();
    figures.totals = *std::move(totals);
  }
  figures.content_digest = ContentDigest(figures.buckets);
  return figures;
}

bool SameValue(const Value& a, const Value& b) {
  if (!a.is_double && !b.is_double) return a.whole == b.whole;
  const double larger = std::max(std::fabs(a.AsDouble()), std::fabs(b.AsDouble()));
  return std::fabs(a.AsDouble() - b.AsDouble()) <= larger * kTolerance;
}

bool SameContent(const Bucket& a, const Bucket& b) {
  const bool rows_alone = a.sums.size() <= 1 && b.sums.size() <= 1;
  if (a.interval != b.interval || !SameValues(a.sums, b.sums, rows_alone)) return false;
  if (a.snapshot.size() != b.snapshot.size()) return false;
  for (size_t i = 0; i < a.snapshot.size(); ++i) {
    if (a.snapshot[i].key != b.snapshot[i].key ||
        !SameValues(a.snapshot[i].values, b.snapshot[i].values, true)) {
      return false;
    }
  }
  return true;
}

std::string ContentDigest(const std::vector<Bucket>& buckets) {
  std::string text;
  for (const Bucket& bucket : buckets) {
    std::vector<Value> sums = bucket.sums;
    if (sums.size() > 1) {
      sums.erase(std::remove_if(sums.begin(), sums.end(),
                                [](const Value& value) { return value.metric == kRows; }),
                 sums.end());
    }
    absl::StrAppend(&text, bucket.interval.ToString(), "=", ToJson(sums), ToJson(bucket.snapshot),
                    ";");
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest));
}

}  // namespace interlock::seal
