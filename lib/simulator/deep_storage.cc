#include "lib/simulator/deep_storage.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/simulator/json.h"

namespace interlock::simulator {
namespace {

namespace fs = std::filesystem;

constexpr char kNowhere[] = "/simulator/segments";

constexpr char kRowsFile[] = "rows.jsonl";

std::string RowLine(const RowSet& set, const Row& row) {
  JsonWriter out;
  out.Object().Member("__time", row.time.ToString());
  for (size_t i = 0; i < set.columns.size(); ++i) WriteCell(out.Key(set.columns[i]), row.cells[i]);
  out.End();
  return out.Take();
}

absl::StatusOr<Row> ReadRow(const RowSet& set, const std::string& line) {
  absl::StatusOr<JsonDocument> json = ParseJson(line);
  if (!json.ok()) return json.status();
  absl::StatusOr<Instant> time = Instant::Parse(FindString(*json, "__time"));
  if (!time.ok()) return time.status();
  Row row;
  row.time = *time;
  for (const std::string& column : set.columns) {
    const JsonValue* value = Find(*json, column);
    row.cells.push_back(value == nullptr ? Cell() : ToCell(*value));
  }
  return row;
}

}  // namespace

DeepStorage::DeepStorage(const std::string& folder) {
  if (!folder.empty()) folder_ = fs::absolute(folder).string();
}

absl::Status DeepStorage::Push(Segment& segment) const {
  segment.file =
      absl::StrCat(folder_.empty() ? kNowhere : folder_, "/", segment.datasource, "/",
                   segment.interval.start().ToString(), "_", segment.interval.end().ToString(), "/",
                   segment.version, "/", segment.partition, "/index/");
  JsonWriter out;
  out.Object().Member("type", "local").Member("path", segment.file).End();
  segment.load_spec_json = out.Take();
  if (folder_.empty()) return absl::OkStatus();
  std::error_code error;
  fs::create_directories(segment.file, error);
  std::ofstream file(segment.file + kRowsFile);
  for (const Row& row : segment.rows->rows) file << RowLine(*segment.rows, row) << "\n";
  file.close();
  if (!file) return absl::UnavailableError(absl::StrCat("cannot write ", segment.file));
  return absl::OkStatus();
}

absl::StatusOr<RowSet> DeepStorage::Pull(const Segment& segment) const {
  RowSet set;
  if (segment.tombstone) return set;
  for (const std::string& names : {segment.dimensions, segment.metrics}) {
    for (absl::string_view name : absl::StrSplit(names, ',', absl::SkipEmpty())) {
      set.columns.emplace_back(name);
    }
  }
  std::ifstream file(segment.file + kRowsFile);
  for (std::string line; std::getline(file, line);) {
    absl::StatusOr<Row> row = ReadRow(set, line);
    if (!row.ok()) return row.status();
    set.rows.push_back(*std::move(row));
  }
  if (set.rows.empty()) return absl::UnavailableError(absl::StrCat("nothing in ", segment.file));
  return set;
}

absl::Status DeepStorage::Remove(const Segment& segment) const {
  if (folder_.empty() || segment.file.empty()) return absl::OkStatus();
  std::error_code error;
  fs::remove_all(segment.file, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot remove ", segment.file, ": ", error.message()));
  }
  fs::path above = fs::path(segment.file).parent_path().parent_path();
  while (above != fs::path(folder_) && fs::is_empty(above, error) && !error) {
    if (!fs::remove(above, error)) break;
    above = above.parent_path();
  }
  return absl::OkStatus();
}

}  // namespace interlock::simulator
