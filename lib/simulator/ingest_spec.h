// An index_parallel spec, read and checked as Druid reads it: the first fault is a 400
// with Jackson's text. What Druid can do and the simulator can't is refused as well, in
// words that say so; nothing is taken and ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/simulator/json.h"
#include "lib/simulator/rows.h"
#include "lib/time/granularity.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

struct DimensionSpec {
  std::string name;
  ColumnType type = ColumnType::kString;
};

struct MetricSpec {
  enum class Kind { kCount, kSum, kMin, kMax };
  std::string name;
  std::string field;
  Kind kind = Kind::kCount;
  ColumnType type = ColumnType::kLong;
};

struct InputSpec {
  enum class Kind { kInline, kLocal, kDruid };
  Kind kind = Kind::kInline;
  std::string data;                // inline
  std::string base_dir;            // local
  std::string filter;              // local: a glob over names
  std::vector<std::string> files;  // local
  std::string datasource;          // druid
  Interval interval;               // druid

  enum class Format { kJson, kCsv };
  Format format = Format::kJson;
  std::vector<std::string> columns;  // csv
  bool header = false;               // csv: columns from the first line
  char delimiter = ',';
};

struct PartitionsSpec {
  enum class Kind { kDynamic, kHashed, kRange };
  Kind kind = Kind::kDynamic;
  int64_t rows = 5'000'000;      // dynamic: most rows; hashed, range: wanted rows
  bool rows_are_a_bound = true;  // range: maxRowsPerSegment in place of targetRowsPerSegment
  std::optional<int64_t> shards;
  std::vector<std::string> dimensions;
  bool single = false;         // single_dim, or range over one dimension: its shard spec
  std::string type_in_errors;  // Druid's class name
};

struct IngestSpec {
  enum class Mode { kAppend, kReplace, kReplaceLegacy };
  std::string datasource;
  std::string timestamp_column = "timestamp";
  std::string timestamp_format = "auto";
  std::optional<Instant> missing_timestamp;
  std::vector<DimensionSpec> dimensions;  // empty: every column that nothing else uses
  std::set<std::string> excluded;
  std::vector<MetricSpec> metrics;
  std::optional<Granularity> segment_granularity;
  std::optional<Granularity> query_granularity;
  bool rollup = true;
  std::vector<Interval> intervals;  // empty: as the input's rows lie
  Mode mode = Mode::kReplaceLegacy;
  InputSpec input;
  PartitionsSpec partitions;
  int64_t max_parse_exceptions = 0;
  int64_t max_sub_tasks = 1;
  // The task does not end before its segments are served, or this has passed; 0: it does.
  int64_t await_millis = 0;

  // Runs as sub-tasks under a supervising one.
  bool parallel() const {
    if (input.kind == InputSpec::Kind::kInline) return false;
    return partitions.kind == PartitionsSpec::Kind::kRange || max_sub_tasks > 1;
  }
};

// `spec` is the task's "spec" member, or null. INVALID_ARGUMENT with the text of
// `{"error":…}`.
absl::StatusOr<IngestSpec> ParseIngestSpec(const JsonValue* spec);

}  // namespace interlock::simulator
