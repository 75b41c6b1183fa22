#include "lib/simulator/rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace interlock::simulator {

bool IsNumber(const Cell& cell) {
  return std::holds_alternative<int64_t>(cell) || std::holds_alternative<double>(cell);
}

double AsDouble(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return 0;
}

int64_t AsLong(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<double>(&cell)) return static_cast<int64_t>(*number);
  return 0;
}

std::string AsText(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<int64_t>(&cell)) return absl::StrCat(*number);
  if (const auto* number = std::get_if<double>(&cell)) return absl::StrCat(*number);
  return "";
}

int RowSet::Column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

}  // namespace interlock::simulator
