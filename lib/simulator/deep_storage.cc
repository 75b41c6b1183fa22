#include "lib/simulator/deep_storage.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "lib/simulator/aggregate.h"
#include "lib/simulator/json.h"

namespace interlock::simulator {
namespace {

namespace fs = std::filesystem;

constexpr char kNowhere[] = "/simulator/segments";

std::string RowLine(const RowSet& set, const Row& row) {
  JsonWriter out;
  out.Object().Member("__time", row.time.ToString());
  for (size_t i = 0; i < set.columns.size(); ++i) WriteCell(out.Key(set.columns[i]), row.cells[i]);
  out.End();
  return out.Take();
}

}  // namespace

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
  std::ofstream file(segment.file + "rows.jsonl");
  for (const Row& row : segment.rows->rows) file << RowLine(*segment.rows, row) << "\n";
  file.close();
  if (!file) return absl::UnavailableError(absl::StrCat("cannot write ", segment.file));
  return absl::OkStatus();
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
