#include "client/cli/text_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/cli/shown.h"

namespace interlock::cli {
namespace {

// Characters, not bytes: datasources can have any letters.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

// A column is not made narrower than this: below it nothing can be read.
constexpr size_t kNarrowest = 8;
constexpr size_t kGap = 2;

// The first `width` characters of `text` and what is left, cut between words where it can.
std::pair<std::string, std::string> Cut(const std::string& text, size_t width) {
  size_t end = 0;  // bytes
  for (size_t characters = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) >> 6) != 2;
    if (begins && characters++ == width) break;
  }
  if (end == text.size()) return {text, ""};
  const size_t space = text.rfind(' ', end);
  if (space == std::string::npos || space == 0) return {text.substr(0, end), text.substr(end)};
  return {text.substr(0, space), text.substr(space + 1)};
}

void AppendLine(std::string& text, const std::vector<std::string>& cells,
                const std::vector<size_t>& widths) {
  std::string line;
  std::vector<std::string> rests(cells.size());
  bool more = false;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    auto [part, rest] = Cut(cells[i], widths[i]);
    absl::StrAppend(&line, part, std::string(widths[i] - Width(part) + kGap, ' '));
    more = more || !rest.empty();
    rests[i] = std::move(rest);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  absl::StrAppend(&text, line, "\n");
  if (more) AppendLine(text, rests, widths);
}

// Takes from the widest, one by one, until all of it fits or nothing is left to take.
void Narrow(std::vector<size_t>& widths, size_t width) {
  size_t total = 0;
  for (const size_t one : widths) total += one == 0 ? 0 : one + kGap;
  while (total > width + kGap && widths.size() > 1) {
    const auto widest = std::max_element(widths.begin() + 1, widths.end());
    if (*widest <= kNarrowest) return;
    --*widest;
    --total;
  }
}

}  // namespace

void TextTable::Add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Shown(std::move(cell));
  rows_.push_back(std::move(cells));
}

std::vector<size_t> TextTable::Widths() const {
  std::vector<size_t> widths(titles_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  for (size_t i = 0; i < titles_.size(); ++i) {
    if (widths[i] != 0) widths[i] = std::max(widths[i], Width(titles_[i]));
  }
  return widths;
}

std::string TextTable::Text(size_t width) const {
  if (rows_.empty()) return "";
  std::vector<size_t> widths = Widths();
  if (width != 0) Narrow(widths, width);
  std::string text;
  AppendLine(text, titles_, widths);
  for (const auto& row : rows_) AppendLine(text, row, widths);
  return text;
}

void TextList::Add(const std::string& name, const std::string& value) {
  if (!value.empty()) lines_.emplace_back(name, Shown(value));
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
