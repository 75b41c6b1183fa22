#include "lib/simulator/input_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/simulator/input_text.h"
#include "lib/simulator/local_files.h"

namespace interlock::simulator {
namespace {

constexpr int64_t kMillisPerSecond = 1000;

std::optional<Instant> FromNumber(int64_t number, const std::string& format) {
  if (format == "posix") return Instant::FromMillis(number * kMillisPerSecond);
  return Instant::FromMillis(number);
}

std::optional<Instant> ReadTime(const Cell& cell, const std::string& format) {
  int64_t number = 0;
  const std::string text = AsText(cell);
  const bool numeric = absl::SimpleAtoi(text, &number);
  if (format == "millis" || format == "posix") {
    return numeric ? FromNumber(number, format) : std::nullopt;
  }
  if (format == "auto" && numeric) return FromNumber(number, format);
  if (text.empty()) return std::nullopt;
  absl::StatusOr<Instant> instant = Instant::Parse(text);
  return instant.ok() ? std::optional<Instant>(*instant) : std::nullopt;
}

class Reader {
 public:
  Reader(const IngestSpec& spec, const std::vector<Interval>& allowed, bool everything)
      : spec_(spec), allowed_(allowed), everything_(everything) {}

  void Take(std::optional<std::map<std::string, Cell>> record) {
    const std::optional<Instant> time = record ? TimeOf(*record) : std::nullopt;
    if (!time) {
      ++input_.unparseable;
    } else if (!Allowed(*time)) {
      ++input_.thrown_away;
    } else {
      if (HasBadMetric(*record)) ++input_.with_error;
      input_.rows.push_back({*time, *std::move(record)});
    }
  }

  void TakeText(const std::string& text) {
    input_.bytes += static_cast<int64_t>(text.size());
    for (auto& record : ReadRecords(spec_.input, text)) Take(std::move(record));
  }

  void TakeSlices(const std::vector<Slice>& slices) {
    input_.segments_read = 0;
    for (const Slice& slice : slices) TakeSlice(slice);
  }

  Input Finish() { return std::move(input_); }

 private:
  std::optional<Instant> TimeOf(const std::map<std::string, Cell>& record) const {
    const auto found = record.find(spec_.timestamp_column);
    if (found == record.end() || std::holds_alternative<std::monostate>(found->second)) {
      return spec_.missing_timestamp;
    }
    return ReadTime(found->second, spec_.timestamp_format);
  }

  bool HasBadMetric(const std::map<std::string, Cell>& record) const {
    for (const MetricSpec& metric : spec_.metrics) {
      const auto found = record.find(metric.field);
      if (found == record.end() || !std::holds_alternative<std::string>(found->second)) continue;
      double number = 0;
      if (!absl::SimpleAtod(AsText(found->second), &number)) return true;
    }
    return false;
  }

  bool Allowed(Instant time) const {
    return everything_ ||
           std::any_of(allowed_.begin(), allowed_.end(),
                       [&](const Interval& interval) { return interval.Contains(time); });
  }

  void TakeSlice(const Slice& slice) {
    const std::optional<Interval> part = slice.interval.Intersect(spec_.input.interval);
    if (!part) return;
    for (const Segment* segment : slice.segments) {
      if (segment->tombstone) continue;
      ++*input_.segments_read;
      for (const Row& row : segment->rows->rows) {
        if (part->Contains(row.time)) TakeStored(*segment->rows, row);
      }
    }
  }

  // Druid hands stored rows on under their column names, and their time as __time in
  // milliseconds, whatever column the spec's timestampSpec asks for.
  void TakeStored(const RowSet& set, const Row& row) {
    std::map<std::string, Cell> record;
    record["__time"] = row.time.millis();
    for (size_t i = 0; i < set.columns.size(); ++i) record[set.columns[i]] = row.cells[i];
    input_.bytes += static_cast<int64_t>(sizeof(int64_t) * record.size());
    Take(std::move(record));
  }

  const IngestSpec& spec_;
  const std::vector<Interval>& allowed_;
  const bool everything_;
  Input input_;
};

}  // namespace

Input ReadInput(const IngestSpec& spec, const SegmentTable& table,
                const std::vector<Interval>& allowed, bool everything) {
  Reader reader(spec, allowed, everything);
  switch (spec.input.kind) {
    case InputSpec::Kind::kInline:
      reader.TakeText(spec.input.data);
      break;
    case InputSpec::Kind::kLocal:
      for (const std::string& path : LocalFiles(spec.input)) reader.TakeText(ReadFile(path));
      break;
    case InputSpec::Kind::kDruid:
      reader.TakeSlices(table.VisibleUsed(spec.input.datasource));
      break;
  }
  Input input = reader.Finish();
  if (input.unparseable > spec.max_parse_exceptions) {
    input.error = absl::StrCat("org.apache.druid.java.util.common.RE: Max parse exceptions[",
                               spec.max_parse_exceptions, "] exceeded\n");
  }
  return input;
}

}  // namespace interlock::simulator
