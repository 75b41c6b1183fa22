#include "lib/simulator/schema_spec.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/simulator/spec_errors.h"
#include "lib/simulator/spec_fields.h"

namespace interlock::simulator {
namespace {

constexpr char kIntervalsChain[] =
    "org.apache.druid.indexing.common.task.batch.parallel.ParallelIndexSupervisorTask[\"spec\"]->"
    "org.apache.druid.indexing.common.task.batch.parallel.ParallelIndexIngestionSpec"
    "[\"dataSchema\"]->org.apache.druid.segment.indexing.DataSchema[\"granularitySpec\"]->"
    "org.apache.druid.indexer.granularity.UniformGranularitySpec[\"intervals\"]->"
    "java.util.ArrayList[0]";
constexpr char kAggregatorClass[] = "org.apache.druid.query.aggregation.AggregatorFactory";
constexpr char kKnownAggregators[] =
    "cardinality, count, doubleAny, doubleFirst, doubleLast, doubleMax, doubleMean, doubleMin, "
    "doubleSum, expression, filtered, floatAny, floatFirst, floatLast, floatMax, floatMin, "
    "floatSum, grouping, histogram, hyperUnique, javascript, longAny, longFirst, longLast, "
    "longMax, longMin, longSum, singleValue, stringAny, stringFirst, stringFirstFold, stringLast, "
    "stringLastFold";
constexpr char kCalendarForms[] = "iso, millis, posix, auto";

absl::Status ReadTimestamp(const JsonValue& schema, IngestSpec& spec) {
  const JsonValue* timestamp = Find(schema, "timestampSpec");
  if (timestamp == nullptr) return CannotConstruct(kSchemaClass, "timestampSpec");
  spec.timestamp_column = FindString(*timestamp, "column", "timestamp");
  spec.timestamp_format = FindString(*timestamp, "format", "auto");
  const std::string& format = spec.timestamp_format;
  if (format != "iso" && format != "millis" && format != "posix" && format != "auto") {
    return NotSimulated(
        absl::StrCat("the timestamp format ", format, " (it knows ", kCalendarForms, ")"));
  }
  const std::string missing = FindString(*timestamp, "missingValue");
  if (missing.empty()) return absl::OkStatus();
  absl::StatusOr<Instant> instant = Instant::Parse(missing);
  if (!instant.ok()) return BadInstant(missing, "TimestampSpec[\"missingValue\"]");
  spec.missing_timestamp = *instant;
  return absl::OkStatus();
}

absl::StatusOr<DimensionSpec> ReadDimension(const JsonValue& json) {
  const std::string type = FindString(json, "type", "string");
  DimensionSpec dimension{json.IsString() ? json.GetString() : FindString(json, "name"),
                          ColumnType::kString};
  if (type == "long") {
    dimension.type = ColumnType::kLong;
  } else if (type == "double" || type == "float") {
    dimension.type = ColumnType::kDouble;
  } else if (type != "string") {
    return NotSimulated(absl::StrCat("dimensions of type ", type));
  }
  if (dimension.name == "__time" && dimension.type != ColumnType::kLong) {
    return CannotConstruct(kSchemaClass,
                           "Encountered dimension[__time] with incorrect type[STRING]. Type must "
                           "be 'long'.");
  }
  return dimension;
}

absl::Status ReadDimensions(const JsonValue& schema, IngestSpec& spec) {
  const JsonValue* dimensions = Find(schema, "dimensionsSpec");
  // Druid takes it, and its task then fails with a NullPointerException.
  if (dimensions == nullptr) return NotSimulated("specs without a dimensionsSpec");
  for (const std::string& name : FindStrings(*dimensions, "dimensionExclusions")) {
    spec.excluded.insert(name);
  }
  const JsonValue* list = Find(*dimensions, "dimensions");
  if (list == nullptr || !list->IsArray()) return absl::OkStatus();
  std::set<std::string> seen;
  for (const JsonValue& entry : list->GetArray()) {
    absl::StatusOr<DimensionSpec> dimension = ReadDimension(entry);
    if (!dimension.ok()) return dimension.status();
    if (!seen.insert(dimension->name).second) {
      return CannotConstruct(
          "org.apache.druid.data.input.impl.DimensionsSpec",
          absl::StrCat("Duplicate column entries found : [", dimension->name, "]"));
    }
    spec.dimensions.push_back(*std::move(dimension));
  }
  return absl::OkStatus();
}

// "longSum" and the like; false for what is no such aggregator.
bool ReadKind(absl::string_view type, MetricSpec& metric, std::string& java_class) {
  absl::string_view rest = type;
  java_class = absl::StrCat("org.apache.druid.query.aggregation.",
                            type.substr(0, 1) == "l" ? "Long" : "Double");
  if (absl::ConsumePrefix(&rest, "long")) {
    metric.type = ColumnType::kLong;
  } else if (absl::ConsumePrefix(&rest, "double")) {
    metric.type = ColumnType::kDouble;
  } else {
    return false;
  }
  if (rest == "Sum") metric.kind = MetricSpec::Kind::kSum;
  if (rest == "Min") metric.kind = MetricSpec::Kind::kMin;
  if (rest == "Max") metric.kind = MetricSpec::Kind::kMax;
  absl::StrAppend(&java_class, rest, "AggregatorFactory");
  return rest == "Sum" || rest == "Min" || rest == "Max";
}

absl::StatusOr<MetricSpec> ReadMetric(const JsonValue& json) {
  MetricSpec metric;
  metric.name = FindString(json, "name");
  metric.field = FindString(json, "fieldName");
  const std::string type = FindString(json, "type");
  std::string java_class = "org.apache.druid.query.aggregation.CountAggregatorFactory";
  const bool count = type == "count";
  if (!count && !ReadKind(type, metric, java_class)) {
    if (absl::StrContains(absl::StrCat(", ", kKnownAggregators, ","),
                          absl::StrCat(" ", type, ","))) {
      return NotSimulated(absl::StrCat("the aggregator ", type));
    }
    return UnknownType(type, kAggregatorClass, kKnownAggregators, "metricsSpec");
  }
  if (metric.name.empty()) {
    return CannotConstruct(java_class, "Must have a valid, non-null aggregator name");
  }
  if (!count && metric.field.empty()) {
    return CannotConstruct(java_class, "Must have a valid, non-null fieldName or expression");
  }
  return metric;
}

absl::Status ReadMetrics(const JsonValue& schema, IngestSpec& spec) {
  const JsonValue* metrics = Find(schema, "metricsSpec");
  if (metrics == nullptr || !metrics->IsArray()) return absl::OkStatus();
  std::map<std::string, int> seen;
  for (const JsonValue& entry : metrics->GetArray()) {
    absl::StatusOr<MetricSpec> metric = ReadMetric(entry);
    if (!metric.ok()) return metric.status();
    ++seen[metric->name];
    spec.metrics.push_back(*std::move(metric));
  }
  for (const auto& [name, times] : seen) {
    bool dimension = false;
    for (const DimensionSpec& other : spec.dimensions) dimension |= other.name == name;
    if (!dimension && times == 1) continue;
    const std::string where = dimension
                                  ? "dimensions list, metricsSpec list"
                                  : absl::StrCat("metricsSpec list (", times, " occurrences)");
    return CannotConstruct(kSchemaClass, absl::StrCat("Cannot specify a column more than once: [",
                                                      name, "] seen in ", where));
  }
  return absl::OkStatus();
}

absl::Status ReadIntervals(const JsonValue& granularities, IngestSpec& spec) {
  const JsonValue* intervals = Find(granularities, "intervals");
  if (intervals == nullptr) return absl::OkStatus();
  if (!intervals->IsArray()) {
    return WrongType("java.util.ArrayList<org.joda.time.Interval>",
                     "String value (token `JsonToken.VALUE_STRING`)");
  }
  for (const JsonValue& entry : intervals->GetArray()) {
    const std::string text = entry.IsString() ? entry.GetString() : ToText(entry);
    absl::StatusOr<Interval> interval = ParseDruidInterval(text, kIntervalsChain);
    if (!interval.ok()) return interval.status();
    spec.intervals.push_back(*interval);
  }
  return absl::OkStatus();
}

absl::Status ReadGranularities(const JsonValue& schema, IngestSpec& spec) {
  static const JsonValue kNothing(rapidjson::kObjectType);
  const JsonValue* granularities = Find(schema, "granularitySpec");
  if (granularities == nullptr) granularities = &kNothing;
  if (FindString(*granularities, "type", "uniform") != "uniform") {
    return NotSimulated("granularitySpecs other than uniform");
  }
  absl::StatusOr<Granularity> segments =
      GranularityField(*granularities, "segmentGranularity", "DAY");
  if (!segments.ok()) return segments.status();
  absl::StatusOr<Granularity> queries =
      GranularityField(*granularities, "queryGranularity", "NONE");
  if (!queries.ok()) return queries.status();
  absl::StatusOr<bool> rollup = BoolField(*granularities, "rollup", true);
  if (!rollup.ok()) return rollup.status();
  if (segments->is_none()) return NotSimulated("segmentGranularity NONE");
  spec.segment_granularity = *segments;
  spec.query_granularity = *queries;
  spec.rollup = *rollup;
  return ReadIntervals(*granularities, spec);
}

absl::Status RefuseTransforms(const JsonValue& schema) {
  const JsonValue* transforms = Find(schema, "transformSpec/transforms");
  const bool any = transforms != nullptr && transforms->IsArray() && !transforms->Empty();
  if (any || Find(schema, "transformSpec/filter") != nullptr) {
    return NotSimulated("transforms and filters");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSchemaSpec(const JsonValue& schema, IngestSpec& spec) {
  spec.datasource = FindString(schema, "dataSource");
  for (absl::Status read :
       {CheckId("dataSource", spec.datasource, kSchemaClass), ReadTimestamp(schema, spec),
        ReadDimensions(schema, spec), ReadMetrics(schema, spec), ReadGranularities(schema, spec),
        RefuseTransforms(schema)}) {
    if (!read.ok()) return read;
  }
  return absl::OkStatus();
}

}  // namespace interlock::simulator
