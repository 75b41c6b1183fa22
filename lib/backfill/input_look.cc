#include "lib/backfill/input_look.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/sql_work.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {
namespace {

namespace fs = std::filesystem;

// Entries of a folder that are looked through, and rows of inline data.
constexpr size_t kMostEntries = 10'000;
constexpr size_t kMostRows = 100'000;

const JsonValue* MemberAt(const JsonValue& document, const char* pointer) {
  return rapidjson::Pointer(pointer).Get(document);
}

std::string TextAt(const JsonValue& document, const char* pointer, const char* otherwise = "") {
  const JsonValue* value = MemberAt(document, pointer);
  return value != nullptr && value->IsString() ? value->GetString() : otherwise;
}

// A row's time as Druid's TimestampSpec reads it in these formats; nothing for others.
std::optional<Instant> TimeOf(const JsonValue& value, const std::string& format) {
  int64_t number = 0;
  if (value.IsInt64()) {
    number = value.GetInt64();
  } else if (!value.IsString()) {
    return std::nullopt;
  } else if (!absl::SimpleAtoi(value.GetString(), &number)) {
    if (format != "iso" && format != "auto") return std::nullopt;
    const auto instant = Instant::Parse(value.GetString());
    return instant.ok() ? std::optional(*instant) : std::nullopt;
  }
  if (format == "posix") return Instant::FromMillis(number * 1000);
  if (format == "millis" || format == "auto") return Instant::FromMillis(number);
  return std::nullopt;
}

// Nothing where a single one can't be told.
std::optional<std::vector<Instant>> TimesOf(const std::string& lines, const JsonValue& task) {
  const std::string column = TextAt(task, "/spec/dataSchema/timestampSpec/column", "timestamp");
  const std::string format = TextAt(task, "/spec/dataSchema/timestampSpec/format", "auto");
  std::vector<Instant> times;
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipWhitespace())) {
    rapidjson::Document row;
    if (times.size() == kMostRows || !ReadJsonObject(std::string(line), &row)) return std::nullopt;
    const JsonValue* value = MemberOf(row, column.c_str());
    const auto time = value == nullptr ? std::nullopt : TimeOf(*value, format);
    if (!time) return std::nullopt;
    times.push_back(*time);
  }
  std::sort(times.begin(), times.end());
  return times;
}

bool IsEmptyFile(const fs::path& path) {
  std::error_code failed;
  return fs::file_size(path, failed) == 0 && !failed;
}

// Of those that a spec lists; nothing where one is not to be seen from here.
std::optional<size_t> CountListed(const JsonValue& files) {
  size_t there = 0;
  for (const JsonValue& file : files.GetArray()) {
    std::error_code failed;
    if (!file.IsString() || !fs::is_regular_file(file.GetString(), failed)) return std::nullopt;
    there += IsEmptyFile(file.GetString()) ? 0 : 1;
  }
  return there;
}

}  // namespace

std::optional<size_t> CountLocalFiles(const std::string& folder, const std::string& filter) {
  // Druid's wildcards are * and ? alone.
  if (filter.find_first_of("[\\") != std::string::npos) return std::nullopt;
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) return std::nullopt;
  size_t there = 0, seen = 0;
  fs::recursive_directory_iterator at(folder, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    if (++seen > kMostEntries) return std::nullopt;
    if (!at->is_regular_file(failed) || failed) continue;
    if (fnmatch(filter.c_str(), at->path().filename().c_str(), 0) != 0) continue;
    there += IsEmptyFile(at->path()) ? 0 : 1;
  }
  if (failed) return std::nullopt;
  return there;
}

InputLook::InputLook(druid::Cluster& cluster, const std::string& spec_json, const Unit& unit) {
  if (IsSql(spec_json)) return;
  const std::string rendered = RenderTask(spec_json, unit, {});
  rapidjson::Document task;
  if (!ReadJsonObject(rendered, &task)) return;
  const JsonValue* source = MemberAt(task, "/spec/ioConfig/inputSource");
  if (source == nullptr || !source->IsObject()) return;
  const std::string type = TextIn(*source, "type");
  if (type == "inline") {
    LookAtInline(TextIn(*source, "data"), rendered);
  } else if (type == "druid" && MemberOf(*source, "segments") == nullptr) {
    LookAtDruid(cluster, TextIn(*source, "dataSource"), unit.hull());
  } else if (type == "local") {
    const JsonValue* files = MemberOf(*source, "files");
    const auto there = files != nullptr && files->IsArray()
                           ? CountListed(*files)
                           : CountLocalFiles(TextIn(*source, "baseDir"), TextIn(*source, "filter"));
    nothing_ = there == std::optional<size_t>(0);
    certain_ = false;
    what_ = files != nullptr
                ? "the files that are listed, as seen from Interlock's host"
                : absl::StrCat(TextIn(*source, "filter"), " in ", TextIn(*source, "baseDir"),
                               ", as seen from Interlock's host");
  }
}

void InputLook::LookAtInline(const std::string& data, const std::string& spec_json) {
  what_ = "the inline data";
  nothing_ = absl::StripAsciiWhitespace(data).empty();
  rapidjson::Document task;
  if (!ReadJsonObject(spec_json, &task)) return;
  const JsonValue* transforms = MemberAt(task, "/spec/dataSchema/transformSpec/transforms");
  const bool moves_time = transforms != nullptr && transforms->IsArray() && !transforms->Empty();
  if (nothing_ || moves_time || TextAt(task, "/spec/ioConfig/inputFormat/type") != "json") return;
  rows_ = TimesOf(data, task);
}

void InputLook::LookAtDruid(druid::Cluster& cluster, const std::string& datasource,
                            const Interval& hull) {
  auto used = cluster.ListUsedSegments(datasource, {hull});
  if (!used.done()) return;
  what_ = absl::StrCat("datasource ", datasource);
  timeline_ = druid::Timeline::Of(std::move(used.value()));
}

std::optional<Obstacle> InputLook::At(const Interval& partition) const {
  bool nothing = nothing_;
  if (rows_) {
    const auto first = std::lower_bound(rows_->begin(), rows_->end(), partition.start());
    nothing = first == rows_->end() || *first >= partition.end();
  }
  if (timeline_) {
    const std::vector<druid::Slice> slices = timeline_->Visible(partition);
    nothing = std::all_of(slices.begin(), slices.end(),
                          [](const druid::Slice& slice) { return slice.tombstone(); });
  }
  if (!nothing) return std::nullopt;
  Obstacle obstacle;
  obstacle.kind = "INPUT";
  obstacle.reason = "INPUT_EMPTY";
  obstacle.interval = partition;
  obstacle.blocking = certain_;
  obstacle.message = absl::StrCat("the partition has rows, and ", what_,
                                  " holds none for it: its rows would be replaced by nothing");
  obstacle.remedy = "look at the input; if the partition is to become empty, expect min_rows 0";
  return obstacle;
}

}  // namespace interlock::backfill
