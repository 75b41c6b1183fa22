// Sums over the rows that queries see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/simulator/rows.h"
#include "lib/simulator/timeline.h"

namespace interlock::simulator {

struct Aggregation {
  enum class Kind { kCount, kSum, kMin, kMax };
  std::string name;
  Kind kind = Kind::kCount;
  ColumnType type = ColumnType::kLong;
  std::string field;
  // SQL: the type is that of the column's values.
  bool typed_by_column = false;
};

// One result: a value for each aggregation, null for sums of nothing.
class Aggregator {
 public:
  explicit Aggregator(const std::vector<Aggregation>& aggregations);

  // `columns[i]` is the place of aggregation i's field in the row, or -1.
  void Add(const Row& row, const std::vector<int>& columns);
  const std::vector<Cell>& values() const { return values_; }
  int64_t rows() const { return rows_; }

 private:
  const std::vector<Aggregation>& aggregations_;
  std::vector<Cell> values_;
  int64_t rows_ = 0;
};

// Where each aggregation's field stands in the set's rows.
std::vector<int> FieldColumns(const RowSet& set, const std::vector<Aggregation>& aggregations);

}  // namespace interlock::simulator
