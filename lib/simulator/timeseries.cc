#include "lib/simulator/timeseries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/simulator/aggregate.h"
#include "lib/simulator/spec_errors.h"
#include "lib/simulator/spec_fields.h"
#include "lib/time/interval_set.h"

namespace interlock::simulator {
namespace {

// One segment that is asked for by name: SegmentDescriptor.
struct Only {
  Interval interval;
  std::string version;
  int partition = 0;
};

struct Query {
  std::string datasource;
  std::vector<Interval> intervals;
  std::optional<Granularity> granularity;
  std::vector<Aggregation> aggregations;
  bool skip_empty = false;
  std::vector<Only> only;  // empty: all that is served
};

absl::StatusOr<Aggregation> ReadAggregation(const JsonValue& json) {
  Aggregation aggregation;
  aggregation.name = FindString(json, "name");
  aggregation.field = FindString(json, "fieldName");
  const std::string type = FindString(json, "type");
  if (type == "count") return aggregation;
  absl::string_view rest = type;
  aggregation.type = ColumnType::kLong;
  if (!absl::ConsumePrefix(&rest, "long")) {
    if (!absl::ConsumePrefix(&rest, "double")) return NotSimulated(type);
    aggregation.type = ColumnType::kDouble;
  }
  if (rest == "Sum") {
    aggregation.kind = Aggregation::Kind::kSum;
  } else if (rest == "Min") {
    aggregation.kind = Aggregation::Kind::kMin;
  } else if (rest == "Max") {
    aggregation.kind = Aggregation::Kind::kMax;
  } else {
    return NotSimulated(type);
  }
  return aggregation;
}

// {"type":"segments","segments":[{"itvl","ver","part"}]}
absl::Status ReadSegments(const JsonValue& json, Query& query) {
  const JsonValue* segments = Find(json, "intervals/segments");
  if (segments == nullptr || !segments->IsArray()) return absl::OkStatus();
  for (const JsonValue& entry : segments->GetArray()) {
    Only only;
    absl::StatusOr<Interval> interval = ParseDruidInterval(FindString(entry, "itvl"), "itvl");
    if (!interval.ok()) return interval.status();
    only.interval = *interval;
    only.version = FindString(entry, "ver");
    const JsonValue* part = Find(entry, "part");
    if (part == nullptr || !part->IsInt()) return NotSimulated("a segment without a part");
    only.partition = part->GetInt();
    query.intervals.push_back(only.interval);
    query.only.push_back(std::move(only));
  }
  return absl::OkStatus();
}

absl::Status ReadIntervals(const JsonValue& json, Query& query) {
  if (absl::Status segments = ReadSegments(json, query); !segments.ok()) return segments;
  std::vector<std::string> texts = FindStrings(json, "intervals");
  if (texts.empty()) texts = FindStrings(json, "intervals/intervals");
  if (texts.empty() && !FindString(json, "intervals").empty()) {
    texts = {FindString(json, "intervals")};
  }
  for (const std::string& text : texts) {
    absl::StatusOr<Interval> interval = ParseDruidInterval(text, "intervals");
    if (!interval.ok()) return interval.status();
    query.intervals.push_back(*interval);
  }
  if (query.intervals.empty()) return NotSimulated("a query without intervals");
  query.intervals = Condense(query.intervals);
  return absl::OkStatus();
}

absl::StatusOr<Query> ReadQuery(const JsonValue& json) {
  Query query;
  if (FindString(json, "queryType") != "timeseries") return NotSimulated("this queryType");
  for (const char* member : {"filter", "virtualColumns", "postAggregations", "limit"}) {
    if (Find(json, member) != nullptr) return NotSimulated(member);
  }
  query.datasource = FindString(json, "dataSource", FindString(json, "dataSource/name"));
  absl::Status intervals = ReadIntervals(json, query);
  if (!intervals.ok()) return intervals;
  absl::StatusOr<Granularity> granularity = GranularityField(json, "granularity", "ALL");
  if (!granularity.ok()) return granularity.status();
  query.granularity = *granularity;
  const JsonValue* aggregations = Find(json, "aggregations");
  if (aggregations != nullptr && aggregations->IsArray()) {
    for (const JsonValue& entry : aggregations->GetArray()) {
      absl::StatusOr<Aggregation> aggregation = ReadAggregation(entry);
      if (!aggregation.ok()) return aggregation.status();
      query.aggregations.push_back(*std::move(aggregation));
    }
  }
  query.skip_empty = FindBool(json, "context/skipEmptyBuckets", false);
  return query;
}

class Runner {
 public:
  explicit Runner(const Query& query) : query_(query) {}

  void Take(const Slice& slice) {
    for (const Only& only : query_.only) {
      const std::optional<Interval> part = slice.interval.Intersect(only.interval);
      if (!part) continue;
      for (const Segment* segment : slice.segments) {
        const bool named = segment->version == only.version &&
                           segment->partition == only.partition &&
                           segment->interval.Contains(only.interval);
        if (named) TakeSegment(*segment->rows, *part);
      }
    }
    if (!query_.only.empty()) return;
    for (const Interval& interval : query_.intervals) {
      const std::optional<Interval> part = slice.interval.Intersect(interval);
      if (!part) continue;
      for (const Segment* segment : slice.segments) TakeSegment(*segment->rows, *part);
    }
  }

  std::string Write() {
    if (query_.granularity->is_all() && buckets_.empty() && !query_.skip_empty) {
      // Over nothing, the whole still has a sum; it dates from where the query begins.
      At(query_.intervals.front().start());
    }
    JsonWriter out;
    out.Array();
    for (const auto& [start, aggregator] : buckets_) {
      if (query_.skip_empty && aggregator.rows() == 0) continue;
      WriteBucket(out, start, aggregator);
    }
    out.End();
    return out.Take();
  }

 private:
  Aggregator& At(Instant bucket) {
    return buckets_.try_emplace(bucket, query_.aggregations).first->second;
  }

  Instant BucketOf(Instant time) const {
    return query_.granularity->is_none() ? time : query_.granularity->Floor(time);
  }

  void TakeSegment(const RowSet& set, const Interval& part) {
    const std::vector<int> columns = FieldColumns(set, query_.aggregations);
    std::optional<Instant> first, last;
    for (const Row& row : set.rows) {
      if (!part.Contains(row.time)) continue;
      first = std::min(first.value_or(row.time), row.time);
      last = std::max(last.value_or(row.time), row.time);
      if (query_.granularity->is_all()) {
        AddToWhole(row, columns);
      } else {
        At(BucketOf(row.time)).Add(row, columns);
      }
    }
    if (first && !query_.granularity->is_all() && !query_.granularity->is_none()) {
      FillEmpty(*first, *last);
    }
  }

  // The one bucket of ALL dates from its first row.
  void AddToWhole(const Row& row, const std::vector<int>& columns) {
    if (!buckets_.empty() && row.time < buckets_.begin()->first) {
      auto node = buckets_.extract(buckets_.begin());
      node.key() = row.time;
      buckets_.insert(std::move(node));
    }
    (buckets_.empty() ? At(row.time) : buckets_.begin()->second).Add(row, columns);
  }

  // Druid walks a segment's buckets from its first row to its last.
  void FillEmpty(Instant first, Instant last) {
    for (Interval bucket = query_.granularity->Bucket(first); bucket.start() <= last;
         bucket = query_.granularity->Bucket(bucket.end())) {
      At(bucket.start());
    }
  }

  void WriteBucket(JsonWriter& out, Instant start, const Aggregator& aggregator) const {
    out.Object().Member("timestamp", start.ToString()).Key("result").Object();
    for (size_t i = 0; i < query_.aggregations.size(); ++i) {
      WriteCell(out.Key(query_.aggregations[i].name), aggregator.values()[i]);
    }
    out.End().End();
  }

  const Query& query_;
  std::map<Instant, Aggregator> buckets_;
};

}  // namespace

absl::StatusOr<std::string> Timeseries(const World& world, const JsonValue& json) {
  absl::StatusOr<Query> query = ReadQuery(json);
  if (!query.ok()) return query.status();
  Runner runner(*query);
  for (const Slice& slice : world.historicals.Served(query->datasource)) runner.Take(slice);
  return runner.Write();
}

}  // namespace interlock::simulator
