#include "lib/simulator/input_text.h"

#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lib/simulator/json.h"

namespace interlock::simulator {
namespace {

using Record = std::map<std::string, Cell>;

std::optional<Record> ReadJson(absl::string_view line) {
  absl::StatusOr<JsonDocument> document = ParseJson(line);
  if (!document.ok() || !document->IsObject()) return std::nullopt;
  Record record;
  const JsonValue& object = *document;
  for (const auto& member : object.GetObject()) {
    record[member.name.GetString()] = ToCell(member.value);
  }
  return record;
}

// Fields of one line; quotes as in RFC 4180, except that no field holds a line break.
std::vector<std::string> SplitFields(absl::string_view line, char delimiter) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == delimiter && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

Record ReadCsv(absl::string_view line, char delimiter, const std::vector<std::string>& columns) {
  const std::vector<std::string> fields = SplitFields(line, delimiter);
  Record record;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i < fields.size() && !fields[i].empty()) record[columns[i]] = fields[i];
  }
  return record;
}

std::vector<absl::string_view> Lines(const std::string& text) {
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (absl::string_view& line : lines) absl::ConsumeSuffix(&line, "\r");
  return lines;
}

}  // namespace

std::vector<std::optional<Record>> ReadRecords(const InputSpec& input, const std::string& text) {
  std::vector<std::optional<Record>> records;
  std::vector<std::string> columns = input.columns;
  bool first = true;
  for (absl::string_view line : Lines(text)) {
    if (input.format == InputSpec::Format::kJson) {
      records.push_back(ReadJson(line));
    } else if (first && input.header) {
      columns = SplitFields(line, input.delimiter);
    } else {
      records.push_back(ReadCsv(line, input.delimiter, columns));
    }
    first = false;
  }
  return records;
}

}  // namespace interlock::simulator
