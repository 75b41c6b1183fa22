#include "client/cli/text_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace interlock::cli {
namespace {

// Characters, not bytes: datasources can have any letters.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

void AppendLine(std::string& text, const std::vector<std::string>& cells,
                const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    absl::StrAppend(&line, cells[i], std::string(widths[i] - Width(cells[i]) + 2, ' '));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  absl::StrAppend(&text, line, "\n");
}

}  // namespace

std::string TextTable::Text() const {
  if (rows_.empty()) return "";
  std::vector<size_t> widths(titles_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  for (size_t i = 0; i < titles_.size(); ++i) {
    if (widths[i] != 0) widths[i] = std::max(widths[i], Width(titles_[i]));
  }
  std::string text;
  AppendLine(text, titles_, widths);
  for (const auto& row : rows_) AppendLine(text, row, widths);
  return text;
}

void TextList::Add(const std::string& name, const std::string& value) {
  if (!value.empty()) lines_.emplace_back(name, value);
}

std::string TextList::Text() const {
  size_t width = 0;
  for (const auto& [name, value] : lines_) width = std::max(width, Width(name));
  std::string text;
  for (const auto& [name, value] : lines_) {
    absl::StrAppend(&text, name, std::string(width - Width(name) + 2, ' '), value, "\n");
  }
  return text;
}

}  // namespace interlock::cli
