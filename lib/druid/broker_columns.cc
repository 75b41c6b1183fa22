// Which columns there are: server/…/query/metadata/metadata/SegmentMetadataQuery.java. The SQL
// schema would say it too, but from a cache that lags.
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"

namespace interlock::druid {
namespace {

// Merged into one analysis; the lists of single segments are never wanted.
std::string ColumnsQuery(const std::string& datasource, const Interval& interval) {
  return absl::StrCat(
      R"({"queryType":"segmentMetadata","dataSource":)", QuoteJson(datasource),
      R"(,"intervals":[")", interval.ToString(),
      R"("],"merge":true,"analysisTypes":["rollup"],"context":{"useCache":false,"populateCache":false,)",
      R"("useResultLevelCache":false,"populateResultLevelCache":false}})");
}

// [] where nothing is served, else one analysis.
std::string ReadColumns(const rapidjson::Document& reply, Columns* columns) {
  *columns = Columns();
  if (!reply.IsArray() || reply.Size() > 1) return "a segmentMetadata that is not one analysis";
  if (reply.Empty()) return "";
  const rapidjson::Value* all = Member(reply[0], "columns");
  if (all == nullptr || !all->IsObject()) return "an analysis of segments without columns";
  columns->rolled_up = BoolMember(reply[0], "rollup");
  for (const auto& column : all->GetObject()) {
    const rapidjson::Value* type = Member(column.value, "type");
    columns->types[{column.name.GetString(), column.name.GetStringLength()}] =
        type != nullptr && type->IsString() ? type->GetString() : "";
  }
  return "";
}

}  // namespace

bool Columns::AddsUp(const std::string& name) const {
  const auto found = types.find(name);
  // One whose segments disagree has no type; Druid then reads it as it comes.
  return found != types.end() && (found->second == "LONG" || found->second == "DOUBLE" ||
                                  found->second == "FLOAT" || found->second.empty());
}

Answer<Columns> Cluster::ListColumns(const std::string& datasource, const Interval& interval) {
  Columns columns;
  Call call;
  call.endpoint = "columns";
  call.service = Service::kBroker;
  call.method = "POST";
  call.path = "/druid/v2";
  call.body = ColumnsQuery(datasource, interval);
  call.read =
      ReadsJson([&](const rapidjson::Document& reply) { return ReadColumns(reply, &columns); });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(columns));
}

}  // namespace interlock::druid
