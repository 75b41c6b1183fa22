#include "lib/backfill/spec_schema.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/spec_members.h"
#include "lib/druid/task_id.h"

namespace interlock::backfill {
namespace {

constexpr char kTimeColumn[] = "__time";

std::string CheckDatasource(const Node& node) {
  const std::optional<std::string> name = node.RequiredString("name the datasource");
  if (!name) return "";
  if (absl::Status status = druid::ValidateDruidName("datasource", *name); !status.ok()) {
    node.Fault(std::string(status.message()),
               "use a name without `/`, control characters or emoji, not starting with `.`");
    return "";
  }
  // It would be written to under that very name, braces and all.
  if (absl::StrContains(*name, "{start") || absl::StrContains(*name, "{end")) {
    node.Fault(absl::StrCat("is ", node.Found(), ", and placeholders narrow the input alone"),
               "name one datasource, and send a backfill for each");
    return "";
  }
  return *name;
}

std::string CheckTimestamp(const Node& node) {
  std::string column = "timestamp";
  if (!node.RequiredObject("e.g. {\"column\":\"ts\",\"format\":\"iso\"}")) return column;
  CheckMembers(node, Place::kTimestampSpec);
  if (const auto given = node.At("column").String()) column = *given;
  node.At("format").String();
  return column;
}

// Names of columns, and where each was first given.
class Columns {
 public:
  void Add(const Node& node, const std::string& name, absl::string_view kind) {
    if (name == kTimeColumn) {
      // Druid allows it first in the list since 32; elsewhere it refuses the task.
      if (kind != "dimension") node.Fault("is `__time`, the time column", "choose another name");
      return;
    }
    const auto [it, added] = seen_.insert({name, std::string(kind)});
    if (added) return;
    node.Fault(absl::StrCat("`", name, "` is already a ", it->second, "; Druid refuses that"),
               "give each column one name");
  }

 private:
  std::map<std::string, std::string> seen_;
};

void CheckDimension(const Node& node, Columns* columns) {
  if (node.is_string()) {
    columns->Add(node, *node.String(), "dimension");
    return;
  }
  if (!node.RequiredObject("a name, or an object with type and name")) return;
  const std::optional<std::string> name = node.At("name").RequiredString("name the dimension");
  node.At("type").String();
  if (name) columns->Add(node.At("name"), *name, "dimension");
}

void CheckDimensions(const Node& node, Columns* columns) {
  if (!node.RequiredObject("e.g. {\"dimensions\":[\"site\"]}, or {\"useSchemaDiscovery\":true}")) {
    return;
  }
  CheckMembers(node, Place::kDimensionsSpec);
  for (const Node& dimension : node.At("dimensions").Elements()) CheckDimension(dimension, columns);
  node.At("dimensionExclusions").Strings();
  node.At("useSchemaDiscovery").Bool();
  node.At("includeAllDimensions").Bool();
}

void CheckMetric(const Node& node, Columns* columns, Schema* schema) {
  if (!node.RequiredObject("e.g. {\"type\":\"count\",\"name\":\"events\"}")) return;
  const auto type = node.At("type").RequiredString("e.g. count or longSum");
  const auto name = node.At("name").RequiredString("name the metric");
  if (!type || !name) return;
  columns->Add(node.At("name"), *name, "metric");
  if (*type == "count") {
    if (schema->count_metric.empty()) schema->count_metric = *name;
    return;
  }
  const bool sum = *type == "longSum" || *type == "doubleSum" || *type == "floatSum";
  if (!sum) return;
  schema->sum_metrics.push_back(*name);
  if (!node.At("fieldName").present() && !node.At("expression").present()) {
    node.At("fieldName")
        .Fault(absl::StrCat("is missing for a ", *type), "name the column to add up");
  }
}

}  // namespace

Schema CheckSchema(const Node& data_schema) {
  Schema schema;
  CheckMembers(data_schema, Place::kDataSchema);
  if (data_schema.At("parser").present()) {
    data_schema.At("parser").Fault(
        "is the old form, gone from newer Druids",
        "write timestampSpec and dimensionsSpec here, and ioConfig.inputFormat");
  }
  schema.datasource = CheckDatasource(data_schema.At("dataSource"));
  schema.timestamp_column = CheckTimestamp(data_schema.At("timestampSpec"));
  Columns columns;
  CheckDimensions(data_schema.At("dimensionsSpec"), &columns);
  for (const Node& metric : data_schema.At("metricsSpec").Elements()) {
    CheckMetric(metric, &columns, &schema);
  }
  data_schema.At("transformSpec").Object();
  return schema;
}

}  // namespace interlock::backfill
