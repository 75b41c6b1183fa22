// The broker: native timeseries, the columns, and a little SQL, over what is served.
#include <set>

#include "absl/strings/str_cat.h"
#include "lib/simulator/json.h"
#include "lib/simulator/router.h"
#include "lib/simulator/segment_metadata.h"
#include "lib/simulator/sql_parser.h"
#include "lib/simulator/timeseries.h"

namespace interlock::simulator {
namespace {

constexpr auto kRead = Router::Effect::kRead;

Reply QueryError(int status, const char* error, absl::string_view message, const char* java_class) {
  JsonWriter out;
  out.Object()
      .Member("error", error)
      .Member("errorMessage", message)
      .Member("errorClass", java_class)
      .NullMember("host")
      .End();
  return Reply::Json(out.Take(), status);
}

Reply Native(Call& call) {
  absl::StatusOr<JsonDocument> json = ParseJson(call.request.body);
  if (!json.ok()) {
    return QueryError(400, "Json parse failed", json.status().message(),
                      "com.fasterxml.jackson.core.JsonParseException");
  }
  absl::StatusOr<std::string> result = FindString(*json, "queryType") == "segmentMetadata"
                                           ? SegmentMetadata(call.world, *json)
                                           : Timeseries(call.world, *json);
  if (result.ok()) return Reply::Json(*std::move(result));
  return QueryError(400, "Unknown exception", result.status().message(),
                    "com.fasterxml.jackson.databind.exc.ValueInstantiationException");
}

Reply SqlError(const std::string& message, const SqlPlace& place) {
  JsonWriter out;
  out.Object()
      .Member("error", "druidException")
      .Member("errorCode", "invalidInput")
      .Member("persona", "USER")
      .Member("category", "INVALID_INPUT")
      .Member("errorMessage",
              absl::StrCat(message, " (line [", place.line, "], column [", place.column, "])"));
  out.Key("context").Object().Member("sourceType", "sql");
  out.Member("line", absl::StrCat(place.line)).Member("column", absl::StrCat(place.column));
  out.Member("endLine", absl::StrCat(place.line));
  out.Member("endColumn", absl::StrCat(place.end_column)).End().End();
  return Reply::Json(out.Take(), 400);
}

// Rows are lines of an array, objects by name or arrays by place.
std::string WriteResult(const SqlSelect& select, const Aggregator& result, bool array,
                        bool header) {
  JsonWriter out;
  out.Array();
  if (array && header) {
    out.Array();
    for (const SqlItem& item : select.items) out.String(item.aggregation.name);
    out.End();
  }
  array ? out.Array() : out.Object();
  for (size_t i = 0; i < select.items.size(); ++i) {
    if (!array) out.Key(select.items[i].aggregation.name);
    WriteCell(out, result.values()[i]);
  }
  out.End().End();
  return out.Take() + "\n";
}

std::set<std::string> ColumnsOf(const World& world, const std::string& table) {
  std::set<std::string> columns;
  for (const Segment* segment : world.historicals.Announced(table)) {
    columns.insert(segment->rows->columns.begin(), segment->rows->columns.end());
  }
  return columns;
}

Aggregator Run(const World& world, const SqlSelect& select,
               const std::vector<Aggregation>& aggregations) {
  Aggregator result(aggregations);
  for (const Slice& slice : world.historicals.Served(select.table)) {
    const std::optional<Interval> part = slice.interval.Intersect(select.interval);
    if (!part) continue;
    for (const Segment* segment : slice.segments) {
      const std::vector<int> columns = FieldColumns(*segment->rows, aggregations);
      for (const Row& row : segment->rows->rows) {
        if (part->Contains(row.time)) result.Add(row, columns);
      }
    }
  }
  return result;
}

Reply Sql(Call& call) {
  absl::StatusOr<JsonDocument> json = ParseJson(call.request.body);
  if (!json.ok()) return Reply::BadRequest(json.status().message());
  const std::string format = FindString(*json, "resultFormat", "object");
  if (format != "object" && format != "array") {
    return Reply::BadRequest(absl::StrCat("The simulator does not know resultFormat ", format));
  }
  absl::StatusOr<SqlSelect> select = ParseSql(FindString(*json, "query"));
  if (!select.ok()) {
    return Reply::DruidError(400, "invalidInput", "INVALID_INPUT", select.status().message());
  }
  if (call.world.historicals.Announced(select->table).empty()) {
    return SqlError(absl::StrCat("Object '", select->table, "' not found"), select->table_place);
  }
  const std::set<std::string> columns = ColumnsOf(call.world, select->table);
  std::vector<Aggregation> aggregations;
  for (const SqlItem& item : select->items) {
    const std::string& field = item.aggregation.field;
    if (!field.empty() && columns.count(field) == 0) {
      return SqlError(absl::StrCat("Column '", field, "' not found in any table"),
                      item.field_place);
    }
    aggregations.push_back(item.aggregation);
  }
  return Reply::Json(WriteResult(*select, Run(call.world, *select, aggregations), format == "array",
                                 FindBool(*json, "header", false)));
}

}  // namespace

void AddQueryRoutes(Router& router) {
  router.Add("POST", "/druid/v2", kRead, Native);
  router.Add("POST", "/druid/v2/", kRead, Native);
  router.Add("POST", "/druid/v2/sql", kRead, Sql);
  router.Add("GET", "/druid/broker/v1/loadstatus", kRead,
             [](Call&) { return Reply::Json(R"({"inventoryInitialized":true})"); });
}

}  // namespace interlock::simulator
