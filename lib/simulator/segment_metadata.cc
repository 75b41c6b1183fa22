#include "lib/simulator/segment_metadata.h"

#include <algorithm>
#include <map>

#include "lib/simulator/spec_errors.h"
#include "lib/simulator/spec_fields.h"

namespace interlock::simulator {
namespace {

const char* TypeOf(const Cell& cell) {
  if (std::holds_alternative<int64_t>(cell)) return "LONG";
  return std::holds_alternative<double>(cell) ? "DOUBLE" : "STRING";
}

// Of the first row that has a value; a column without one is of strings, as in Druid.
const char* TypeOf(const RowSet& set, size_t column) {
  for (const Row& row : set.rows) {
    const Cell& cell = row.cells[column];
    if (!std::holds_alternative<std::monostate>(cell)) return TypeOf(cell);
  }
  return "STRING";
}

std::string Write(const std::map<std::string, std::string>& columns) {
  JsonWriter out;
  out.Array();
  if (!columns.empty()) {
    out.Object().Member("id", "merged").NullMember("intervals").Key("columns").Object();
    for (const auto& [name, type] : columns) {
      out.Key(name).Object().Member("typeSignature", type).Member("type", type);
      out.Member("hasMultipleValues", false).NullMember("errorMessage").End();
    }
    out.End().NullMember("aggregators").NullMember("rollup").End();
  }
  out.End();
  return out.Take();
}

}  // namespace

absl::StatusOr<std::string> SegmentMetadata(const World& world, const JsonValue& query) {
  if (!FindBool(query, "merge", false)) return NotSimulated("segmentMetadata without merge");
  std::vector<Interval> intervals;
  for (const std::string& text : FindStrings(query, "intervals")) {
    absl::StatusOr<Interval> interval = ParseDruidInterval(text, "intervals");
    if (!interval.ok()) return interval.status();
    intervals.push_back(*interval);
  }
  std::map<std::string, std::string> columns;
  const std::string datasource = FindString(query, "dataSource");
  for (const Slice& slice : world.historicals.Served(datasource)) {
    if (std::none_of(intervals.begin(), intervals.end(),
                     [&](const Interval& one) { return one.Overlaps(slice.interval); })) {
      continue;
    }
    for (const Segment* segment : slice.segments) {
      if (segment->tombstone) continue;
      columns.emplace("__time", "LONG");
      const RowSet& set = *segment->rows;
      for (size_t i = 0; i < set.columns.size(); ++i) {
        columns.emplace(set.columns[i], TypeOf(set, i));
      }
    }
  }
  return Write(columns);
}

}  // namespace interlock::simulator
