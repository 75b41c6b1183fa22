#include "lib/simulator/input_spec.h"

#include "absl/strings/str_cat.h"
#include "lib/simulator/spec_errors.h"
#include "lib/simulator/spec_fields.h"

namespace interlock::simulator {
namespace {

constexpr char kSourceClass[] = "org.apache.druid.data.input.InputSource";
constexpr char kKnownSources[] = "combining, druid, generator, http, inline, local, sql";
constexpr char kLocalClass[] = "org.apache.druid.data.input.impl.LocalInputSource";
constexpr char kDruidClass[] = "org.apache.druid.indexing.input.DruidInputSource";
constexpr char kDruidChain[] =
    "org.apache.druid.indexing.common.task.batch.parallel.ParallelIndexSupervisorTask[\"spec\"]->"
    "org.apache.druid.indexing.common.task.batch.parallel.ParallelIndexIngestionSpec[\"ioConfig\"]"
    "->org.apache.druid.indexing.common.task.batch.parallel.ParallelIndexIOConfig"
    "[\"inputSource\"]->org.apache.druid.indexing.input.DruidInputSource[\"interval\"]";

absl::Status ReadLocal(const JsonValue& source, InputSpec& input) {
  input.kind = InputSpec::Kind::kLocal;
  input.base_dir = FindString(source, "baseDir");
  input.filter = FindString(source, "filter");
  input.files = FindStrings(source, "files");
  if (input.base_dir.empty() && input.files.empty()) {
    return CannotConstruct(kLocalClass, "At least one of baseDir or files should be specified");
  }
  if (!input.base_dir.empty() && input.filter.empty()) {
    return CannotConstruct(kLocalClass, "filter");
  }
  return absl::OkStatus();
}

absl::Status ReadDruid(const JsonValue& source, InputSpec& input) {
  input.kind = InputSpec::Kind::kDruid;
  input.datasource = FindString(source, "dataSource");
  if (input.datasource.empty()) return CannotConstruct(kDruidClass, "dataSource");
  const std::string interval = FindString(source, "interval");
  const bool segments = Find(source, "segments") != nullptr;
  if (interval.empty() != segments) {
    return CannotConstruct(kDruidClass, "Specify exactly one of 'interval' and 'segments'");
  }
  if (segments) return NotSimulated("a druid input source by segments");
  for (const char* member : {"filter", "dimensions", "metrics"}) {
    if (Find(source, member) != nullptr) {
      return NotSimulated(absl::StrCat("the druid input source's ", member));
    }
  }
  absl::StatusOr<Interval> parsed = ParseDruidInterval(interval, kDruidChain);
  if (!parsed.ok()) return parsed.status();
  input.interval = *parsed;
  return absl::OkStatus();
}

absl::Status ReadSource(const JsonValue& source, InputSpec& input) {
  const std::string type = FindString(source, "type");
  if (type == "local") return ReadLocal(source, input);
  if (type == "druid") return ReadDruid(source, input);
  if (type == "combining" || type == "generator" || type == "http" || type == "sql") {
    return NotSimulated(absl::StrCat("the input source ", type));
  }
  if (type != "inline") return UnknownType(type, kSourceClass, kKnownSources, "inputSource");
  input.data = FindString(source, "data");
  if (!input.data.empty()) return absl::OkStatus();
  return CannotConstruct("org.apache.druid.data.input.impl.InlineInputSource", "empty data");
}

absl::Status ReadCsv(const JsonValue& format, bool tabs, InputSpec& input) {
  input.format = InputSpec::Format::kCsv;
  input.columns = FindStrings(format, "columns");
  input.header = FindBool(format, "findColumnsFromHeader", false);
  input.delimiter = tabs ? '\t' : ',';
  const std::string delimiter = FindString(format, "delimiter");
  if (tabs && !delimiter.empty()) input.delimiter = delimiter[0];
  const bool skips = FindInt(format, "skipHeaderRows").value_or(0) != 0;
  if (skips || Find(format, "listDelimiter") != nullptr || delimiter.size() > 1) {
    return NotSimulated("skipHeaderRows, listDelimiter and long delimiters");
  }
  if (!input.header && input.columns.empty()) {
    return CannotConstruct("org.apache.druid.data.input.impl.CsvInputFormat",
                           "Either [columns] or [findColumnsFromHeader] must be set");
  }
  return absl::OkStatus();
}

absl::Status ReadFormat(const JsonValue& format, InputSpec& input) {
  const std::string type = FindString(format, "type");
  if (type == "csv" || type == "tsv") return ReadCsv(format, type == "tsv", input);
  if (type == "regex") return NotSimulated("the input format regex");
  if (type != "json") {
    return UnknownType(type, "org.apache.druid.data.input.InputFormat", "csv, json, regex, tsv",
                       "inputFormat");
  }
  if (Find(format, "flattenSpec") != nullptr || FindBool(format, "assumeNewlineDelimited", false)) {
    return NotSimulated("options of the input format json");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadInputSpec(const JsonValue& io, InputSpec& input) {
  if (FindString(io, "type") != "index_parallel") {
    return UnknownType(FindString(io, "type"),
                       "org.apache.druid.indexing.common.task.batch.parallel."
                       "ParallelIndexIOConfig",
                       "index_parallel", "ioConfig");
  }
  const JsonValue* source = Find(io, "inputSource");
  if (source == nullptr) return CannotConstruct(kTaskClass, "inputSource");
  absl::Status read = ReadSource(*source, input);
  if (!read.ok() || input.kind == InputSpec::Kind::kDruid) return read;
  const JsonValue* format = Find(io, "inputFormat");
  if (format != nullptr) return ReadFormat(*format, input);
  return CannotConstruct(kSpecClass,
                         "At least one of properties[[parser, inputFormat]] must be present");
}

}  // namespace interlock::simulator
