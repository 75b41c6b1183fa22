// Roll-up: input rows with equal time (by query granularity) and dimensions become one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "lib/simulator/ingest_spec.h"
#include "lib/simulator/input_reader.h"
#include "lib/simulator/rows.h"

namespace interlock::simulator {

// Collects rows of one segment. Not thread-safe; lives in one call.
class RollUp {
 public:
  // `dimensions` in the order in which they are stored.
  RollUp(const IngestSpec& spec, std::vector<DimensionSpec> dimensions);

  void Add(const InputRow& row);
  size_t size() const { return set_.rows.size(); }
  // Rows in order of time and dimensions.
  RowSet Finish();

 private:
  using Key = std::pair<Instant, std::vector<Cell>>;
  void Merge(std::vector<Cell>& cells, const InputRow& row) const;

  const IngestSpec& spec_;
  const std::vector<DimensionSpec> dimensions_;
  RowSet set_;
  std::map<Key, size_t> at_;
};

// The spec's dimensions, or, where it lists none, every column of the rows that is no
// metric, no metric's input, not the timestamp and not excluded.
std::vector<DimensionSpec> DimensionsOf(const IngestSpec& spec,
                                        const std::vector<const InputRow*>& rows);

// A dimension's value as it is stored: text, or a number where the type says so.
Cell DimensionCell(const InputRow& row, const DimensionSpec& dimension);

}  // namespace interlock::simulator
