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

Cell ToCell(const JsonValue& value) {
  if (value.IsNull()) return std::monostate();
  if (value.IsInt64()) return value.GetInt64();
  if (value.IsNumber()) return value.GetDouble();
  if (value.IsString()) return std::string(value.GetString(), value.GetStringLength());
  return ToText(value);
}

void WriteCell(JsonWriter& out, const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) {
    out.Int(*number);
  } else if (const auto* number = std::get_if<double>(&cell)) {
    out.Double(*number);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    out.String(*text);
  } else {
    out.Null();
  }
}

int RowSet::Column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

}  // namespace interlock::simulator
