#include "lib/simulator/roll_up.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"

namespace interlock::simulator {
namespace {

Cell ToNumber(const Cell& cell, ColumnType type) {
  if (IsNumber(cell)) {
    return type == ColumnType::kLong ? Cell(AsLong(cell)) : Cell(AsDouble(cell));
  }
  const std::string text = AsText(cell);
  double number = 0;
  int64_t whole = 0;
  if (type == ColumnType::kLong && absl::SimpleAtoi(text, &whole)) return whole;
  if (!absl::SimpleAtod(text, &number)) return std::monostate();
  return type == ColumnType::kLong ? Cell(static_cast<int64_t>(number)) : Cell(number);
}

Cell Combine(const MetricSpec& metric, const Cell& have, const Cell& more) {
  if (std::holds_alternative<std::monostate>(more)) return have;
  if (std::holds_alternative<std::monostate>(have)) return more;
  switch (metric.kind) {
    case MetricSpec::Kind::kMin:
      return std::min(have, more);
    case MetricSpec::Kind::kMax:
      return std::max(have, more);
    default:
      if (metric.type == ColumnType::kLong) return AsLong(have) + AsLong(more);
      return AsDouble(have) + AsDouble(more);
  }
}

Cell MetricInput(const InputRow& row, const MetricSpec& metric) {
  if (metric.kind == MetricSpec::Kind::kCount) return int64_t{1};
  const auto found = row.values.find(metric.field);
  if (found == row.values.end()) return std::monostate();
  return ToNumber(found->second, metric.type);
}

}  // namespace

RollUp::RollUp(const IngestSpec& spec, std::vector<DimensionSpec> dimensions)
    : spec_(spec), dimensions_(std::move(dimensions)) {
  for (const DimensionSpec& dimension : dimensions_) set_.columns.push_back(dimension.name);
  for (const MetricSpec& metric : spec_.metrics) set_.columns.push_back(metric.name);
}

void RollUp::Add(const InputRow& row) {
  Row stored;
  stored.time =
      spec_.query_granularity->is_none() ? row.time : spec_.query_granularity->Floor(row.time);
  for (const DimensionSpec& dimension : dimensions_) {
    stored.cells.push_back(DimensionCell(row, dimension));
  }
  if (spec_.rollup) {
    const auto [at, fresh] = at_.emplace(Key(stored.time, stored.cells), set_.rows.size());
    if (!fresh) {
      Merge(set_.rows[at->second].cells, row);
      return;
    }
  }
  for (const MetricSpec& metric : spec_.metrics) stored.cells.push_back(MetricInput(row, metric));
  set_.rows.push_back(std::move(stored));
}

void RollUp::Merge(std::vector<Cell>& cells, const InputRow& row) const {
  size_t at = dimensions_.size();
  for (const MetricSpec& metric : spec_.metrics) {
    cells[at] = Combine(metric, cells[at], MetricInput(row, metric));
    ++at;
  }
}

RowSet RollUp::Finish() {
  std::stable_sort(set_.rows.begin(), set_.rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.time, a.cells) < std::tie(b.time, b.cells);
  });
  return std::move(set_);
}

std::vector<DimensionSpec> DimensionsOf(const IngestSpec& spec,
                                        const std::vector<const InputRow*>& rows) {
  if (!spec.dimensions.empty()) return spec.dimensions;
  std::set<std::string> taken = spec.excluded;
  taken.insert({"__time", spec.timestamp_column});
  for (const MetricSpec& metric : spec.metrics) taken.insert({metric.name, metric.field});
  std::set<std::string> found;
  for (const InputRow* row : rows) {
    for (const auto& [name, cell] : row->values) {
      if (taken.count(name) == 0) found.insert(name);
    }
  }
  std::vector<DimensionSpec> dimensions;
  for (const std::string& name : found) dimensions.push_back({name, ColumnType::kString});
  return dimensions;
}

Cell DimensionCell(const InputRow& row, const DimensionSpec& dimension) {
  const auto found = row.values.find(dimension.name);
  if (found == row.values.end()) return std::monostate();
  if (dimension.type != ColumnType::kString) return ToNumber(found->second, dimension.type);
  if (std::holds_alternative<std::monostate>(found->second)) return std::monostate();
  return AsText(found->second);
}

}  // namespace interlock::simulator
