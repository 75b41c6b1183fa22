#include "lib/drop/plan.h"

#include <openssl/evp.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/timeline.h"
#include "lib/time/interval_set.h"

namespace interlock::drop {
namespace {

bool Inside(const std::vector<Interval>& intervals, const Interval& interval) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const Interval& one) { return one.Contains(interval); });
}

ManifestRow RowOf(const druid::Segment& segment) {
  ManifestRow row;
  row.id = segment.id;
  row.interval = segment.interval;
  row.version = segment.version;
  row.partition_num = segment.shard.partition_num;
  row.shard_type = segment.shard.type;
  row.size_bytes = segment.size_bytes;
  row.load_spec = segment.load_spec;
  row.tombstone = segment.tombstone();
  return row;
}

Manifest ManifestOf(const std::vector<Interval>& intervals, const druid::Timeline& timeline) {
  std::set<std::string> hidden;
  for (const druid::Segment& segment : timeline.Hidden()) hidden.insert(segment.id);
  Manifest doomed, stays;
  for (const druid::Segment& segment : timeline.segments()) {
    ManifestRow row = RowOf(segment);
    row.hidden = hidden.count(row.id) > 0;
    if (Inside(intervals, row.interval)) {
      doomed.push_back(std::move(row));
    } else {
      row.phase = Phase::kStays;
      stays.push_back(std::move(row));
    }
  }
  std::sort(doomed.begin(), doomed.end(), MarksBefore);
  doomed.insert(doomed.end(), stays.begin(), stays.end());
  return doomed;
}

// Time in which queries read something that is to go; `rows` is the part where it is more
// than a tombstone.
struct Going {
  std::vector<Interval> time, rows;
};

Going TimeThatGoes(const std::vector<Interval>& intervals, const druid::Timeline& timeline) {
  Going goes;
  for (const Interval& interval : intervals) {
    for (const druid::Slice& slice : timeline.Visible(interval)) {
      if (!Inside(intervals, slice.chunk)) continue;
      goes.time.push_back(slice.interval);
      if (!slice.tombstone()) goes.rows.push_back(slice.interval);
    }
  }
  return {Condense(std::move(goes.time)), Condense(std::move(goes.rows))};
}

void AddWhatIsLeft(const Going& goes, const druid::Timeline& rest, Plan& plan) {
  std::vector<Interval> covered;
  for (const Interval& interval : goes.time) {
    for (const druid::Slice& slice : rest.Visible(interval)) {
      plan.reveals.push_back({slice.interval, slice.version, slice.tombstone()});
      covered.push_back(slice.interval);
    }
  }
  plan.leaves_empty = Subtract(goes.rows, Condense(std::move(covered)));
}

std::string Sha256(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), size));  // NOLINT
}

}  // namespace

Plan PlanFrom(const std::string& datasource, const std::vector<Interval>& intervals,
              const std::vector<druid::Segment>& used) {
  Plan plan;
  plan.datasource = datasource;
  plan.intervals = intervals;
  const druid::Timeline timeline = druid::Timeline::Of(used);
  plan.manifest = ManifestOf(intervals, timeline);

  std::vector<druid::Segment> rest;
  std::set<std::string> metrics;
  for (const druid::Segment& segment : timeline.segments()) {
    if (Inside(intervals, segment.interval)) {
      metrics.insert(segment.metrics.begin(), segment.metrics.end());
    } else {
      rest.push_back(segment);
    }
  }
  plan.metrics.assign(metrics.begin(), metrics.end());
  const druid::Timeline without = druid::Timeline::Of(std::move(rest));
  AddWhatIsLeft(TimeThatGoes(intervals, timeline), without, plan);
  return plan;
}

std::vector<ManifestRow> Plan::doomed() const {
  std::vector<ManifestRow> rows;
  for (const ManifestRow& row : manifest) {
    if (row.phase != Phase::kStays) rows.push_back(row);
  }
  return rows;
}

std::vector<ManifestRow> Plan::stays() const {
  std::vector<ManifestRow> rows;
  for (const ManifestRow& row : manifest) {
    if (row.phase == Phase::kStays) rows.push_back(row);
  }
  return rows;
}

int64_t Plan::visible_count() const {
  return std::count_if(manifest.begin(), manifest.end(), [](const ManifestRow& row) {
    return row.phase != Phase::kStays && !row.hidden;
  });
}

int64_t Plan::hidden_count() const {
  return std::count_if(manifest.begin(), manifest.end(), [](const ManifestRow& row) {
    return row.phase != Phase::kStays && row.hidden;
  });
}

int64_t Plan::size_bytes() const {
  int64_t bytes = 0;
  for (const ManifestRow& row : manifest) {
    if (row.phase != Phase::kStays) bytes += row.size_bytes;
  }
  return bytes;
}

std::vector<std::string> Plan::versions() const {
  std::set<std::string> versions;
  for (const ManifestRow& row : manifest) {
    if (row.phase != Phase::kStays) versions.insert(row.version);
  }
  return {versions.begin(), versions.end()};
}

std::vector<Interval> Plan::counted() const {
  // A query each.
  constexpr size_t kMostCounted = 100;
  std::vector<Interval> shown;
  for (const ManifestRow& row : manifest) {
    if (row.phase != Phase::kStays && !row.hidden) shown.push_back(row.interval);
  }
  shown = Condense(std::move(shown));
  return shown.size() <= kMostCounted ? shown : intervals;
}

std::optional<int64_t> Plan::row_count() const {
  if (!sums) return std::nullopt;
  int64_t rows = 0;
  for (const druid::RowSums& one : *sums) rows += one.rows;
  return rows;
}

std::string Plan::digest() const { return ManifestDigest(manifest); }

std::string ManifestDigest(const Manifest& rows) {
  std::set<std::string> ids;
  for (const ManifestRow& row : rows) {
    if (row.phase != Phase::kStays) ids.insert(row.id);
  }
  std::string text;
  for (const std::string& id : ids) absl::StrAppend(&text, id, "\n");
  return Sha256(text);
}

}  // namespace interlock::drop
