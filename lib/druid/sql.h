// Rows of a Druid SQL query, as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace interlock::druid {

struct SqlCell {
  enum class Kind { kNull, kText, kWhole, kBroken };
  Kind kind = Kind::kNull;
  std::string text;     // of kText; "" else
  int64_t whole = 0;    // a number that Druid printed without a point
  double broken = 0.0;  // any other number
};
using SqlRow = std::vector<SqlCell>;

}  // namespace interlock::druid
