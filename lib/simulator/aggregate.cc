#include "lib/simulator/aggregate.h"

#include <algorithm>

namespace interlock::simulator {
namespace {

// Text sums as 0, as in Druid; null is left out.
Cell Numeric(const Aggregation& aggregation, const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return cell;
  const bool whole = aggregation.typed_by_column ? !std::holds_alternative<double>(cell)
                                                 : aggregation.type == ColumnType::kLong;
  return whole ? Cell(AsLong(cell)) : Cell(AsDouble(cell));
}

Cell Plus(const Cell& a, const Cell& b) {
  if (std::holds_alternative<int64_t>(a)) return AsLong(a) + AsLong(b);
  return AsDouble(a) + AsDouble(b);
}

}  // namespace

Aggregator::Aggregator(const std::vector<Aggregation>& aggregations)
    : aggregations_(aggregations), values_(aggregations.size()) {
  for (size_t i = 0; i < aggregations_.size(); ++i) {
    if (aggregations_[i].kind == Aggregation::Kind::kCount) values_[i] = int64_t{0};
  }
}

void Aggregator::Add(const Row& row, const std::vector<int>& columns) {
  ++rows_;
  for (size_t i = 0; i < aggregations_.size(); ++i) {
    const Aggregation& aggregation = aggregations_[i];
    Cell& value = values_[i];
    if (aggregation.kind == Aggregation::Kind::kCount) {
      value = AsLong(value) + 1;
      continue;
    }
    if (columns[i] < 0) continue;
    const Cell more = Numeric(aggregation, row.cells[columns[i]]);
    if (std::holds_alternative<std::monostate>(more)) continue;
    if (std::holds_alternative<std::monostate>(value)) {
      value = more;
    } else if (aggregation.kind == Aggregation::Kind::kSum) {
      value = Plus(value, more);
    } else {
      const bool smallest = aggregation.kind == Aggregation::Kind::kMin;
      value = smallest ? std::min(value, more) : std::max(value, more);
    }
  }
}

std::vector<int> FieldColumns(const RowSet& set, const std::vector<Aggregation>& aggregations) {
  std::vector<int> columns;
  for (const Aggregation& aggregation : aggregations) {
    columns.push_back(set.Column(aggregation.field));
  }
  return columns;
}

}  // namespace interlock::simulator
