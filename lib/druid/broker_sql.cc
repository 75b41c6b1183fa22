// A SELECT through the broker's SQL API.
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"

namespace interlock::druid {
namespace {

// "" where it makes sense.
std::string ReadCell(const rapidjson::Value& json, SqlCell* cell) {
  if (json.IsNull()) return "";
  if (json.IsString()) {
    cell->kind = SqlCell::Kind::kText;
    cell->text.assign(json.GetString(), json.GetStringLength());
  } else if (json.IsBool()) {
    cell->kind = SqlCell::Kind::kWhole;
    cell->whole = json.GetBool() ? 1 : 0;
  } else if (json.IsInt64()) {
    cell->kind = SqlCell::Kind::kWhole;
    cell->whole = json.GetInt64();
  } else if (json.IsNumber() && std::isfinite(json.GetDouble())) {
    cell->kind = SqlCell::Kind::kBroken;
    cell->broken = json.GetDouble();
  } else {
    return "a cell that is neither text nor number";
  }
  return "";
}

std::string ReadRows(const rapidjson::Document& reply, int64_t most, std::vector<SqlRow>* rows) {
  rows->clear();
  if (!reply.IsArray()) return "rows that are no list";
  if (static_cast<int64_t>(reply.Size()) > most) return "more rows than the query allows";
  for (const auto& json : reply.GetArray()) {
    if (!json.IsArray()) return "a row that is no list";
    SqlRow row(json.Size());
    for (rapidjson::SizeType i = 0; i < json.Size(); ++i) {
      std::string why = ReadCell(json[i], &row[i]);
      if (!why.empty()) return why;
    }
    rows->push_back(std::move(row));
  }
  return "";
}

}  // namespace

Answer<std::vector<SqlRow>> Cluster::QuerySql(const std::string& query, int64_t most) {
  std::vector<SqlRow> rows;
  Call call;
  call.endpoint = "sql";
  call.service = Service::kBroker;
  call.method = "POST";
  call.path = "/druid/v2/sql";
  call.body = absl::StrCat(R"({"query":)", QuoteJson(query), R"(,"resultFormat":"array",)",
                           R"("context":{"useCache":false,"populateCache":false,)",
                           R"("useResultLevelCache":false,"populateResultLevelCache":false}})");
  call.read =
      ReadsJson([&](const rapidjson::Document& reply) { return ReadRows(reply, most, &rows); });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(rows));
}

}  // namespace interlock::druid
