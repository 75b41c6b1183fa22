// Rows as the simulated segments hold them: a time, dimensions and metrics.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lib/simulator/json.h"
#include "lib/time/instant.h"

namespace interlock::simulator {

// Null, long, double or string.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

enum class ColumnType { kString, kLong, kDouble };

// The number in a cell; strings and nulls count as none.
bool IsNumber(const Cell& cell);
double AsDouble(const Cell& cell);
int64_t AsLong(const Cell& cell);
// As it would be printed; "" for null.
std::string AsText(const Cell& cell);
// Of a JSON value; what is no number, string or null becomes its text.
Cell ToCell(const JsonValue& value);
void WriteCell(JsonWriter& out, const Cell& cell);

struct Row {
  Instant time;
  std::vector<Cell> cells;  // in the order of the columns
};

struct RowSet {
  std::vector<std::string> columns;  // dimensions first, then metrics
  std::vector<Row> rows;

  // Index of a column, or -1.
  int Column(const std::string& name) const;
};

}  // namespace interlock::simulator
