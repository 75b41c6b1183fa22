// Columns that line up.
#pragma once

#include <string>
#include <vector>

namespace interlock::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> titles) : titles_(std::move(titles)) {}

  // As many cells as titles. Control characters are shown as '?'.
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // A line of titles and one for each row, two spaces between columns. A column that is
  // empty in all rows is left out; "" for a table without rows. What is wider than `width`
  // characters (0: no bound) goes on below, inside its column; the first column never does,
  // for that is what people copy.
  std::string Text(size_t width = 0) const;

 private:
  std::vector<size_t> Widths() const;

  std::vector<std::string> titles_;
  std::vector<std::vector<std::string>> rows_;
};

// What is set in it, a name and its value to a line.
class TextList {
 public:
  void Add(const std::string& name, const std::string& value);
  std::string Text() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace interlock::cli
