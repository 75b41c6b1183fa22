// Sums of rows, through the broker's native timeseries query: a datasource without rows
// answers [] there, where SQL says that it does not exist.
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"

namespace interlock::druid {
namespace {

// Names of ours for the results: a metric may be called anything.
std::string ResultName(size_t metric) { return absl::StrCat("m", metric); }

// `intervals` is the member's JSON: a list, or single segments by name.
std::string SumQuery(const std::string& datasource, const std::string& intervals,
                     const std::vector<std::string>& metrics) {
  std::string aggregations = R"({"type":"count","name":"rows"})";
  for (size_t i = 0; i < metrics.size(); ++i) {
    absl::StrAppend(&aggregations, R"(,{"type":"doubleSum","name":")", ResultName(i),
                    R"(","fieldName":)", QuoteJson(metrics[i]), "}");
  }
  return absl::StrCat(
      R"({"queryType":"timeseries","dataSource":)", QuoteJson(datasource), R"(,"intervals":)",
      intervals, R"(,"granularity":"all","aggregations":[)", aggregations,
      R"(],"context":{"useCache":false,"populateCache":false,"useResultLevelCache":false,)",
      R"("populateResultLevelCache":false}})");
}

// Null where there were no rows, from 28 on.
std::string ReadNumber(const rapidjson::Value& result, const std::string& name, double* number) {
  *number = 0;
  const rapidjson::Value* value = Member(result, name.c_str());
  if (value == nullptr) return "";
  if (!value->IsNumber() || !std::isfinite(value->GetDouble())) return "a sum that is no number";
  *number = value->GetDouble();
  return "";
}

// [] where there is no segment, else one row, since the granularity is "all".
std::string ReadSums(const rapidjson::Document& reply, const std::vector<std::string>& metrics,
                     RowSums* sums) {
  sums->rows = 0;
  for (const std::string& metric : metrics) sums->sums[metric] = 0;
  if (!reply.IsArray() || reply.Size() > 1) return "a timeseries that is not one row";
  if (reply.Empty()) return "";
  const rapidjson::Value* result = Member(reply[0], "result");
  if (result == nullptr || !result->IsObject()) return "a row of a timeseries without a result";
  sums->rows = IntMember(*result, "rows").value_or(0);
  for (size_t i = 0; i < metrics.size(); ++i) {
    std::string why = ReadNumber(*result, ResultName(i), &sums->sums[metrics[i]]);
    if (!why.empty()) return why;
  }
  return "";
}

// processing/…/query/spec/MultipleSpecificSegmentSpec.java and SegmentDescriptor.java; the
// interval may lie within the segment's own.
std::string Descriptor(const Interval& interval, const Segment& segment) {
  return absl::StrCat(R"({"itvl":")", interval.ToString(), R"(","ver":)",
                      QuoteJson(segment.version), R"(,"part":)", segment.shard.partition_num, "}");
}

std::string OnlyThese(const std::string& descriptors) {
  return absl::StrCat(R"({"type":"segments","segments":[)", descriptors, "]}");
}

struct Part {
  Interval interval;
  std::string json;
};

Answer<std::vector<RowSums>> SumParts(ServiceCaller& caller, const std::string& datasource,
                                      const std::vector<Part>& parts,
                                      const std::vector<std::string>& metrics) {
  std::vector<RowSums> all;
  Answer<HttpReply> answer = Answer<HttpReply>::Done({});
  for (const Part& part : parts) {
    RowSums sums;
    sums.interval = part.interval;
    Call call;
    call.endpoint = "row_sums";
    call.service = Service::kBroker;
    call.method = "POST";
    call.path = "/druid/v2";
    call.body = SumQuery(datasource, part.json, metrics);
    call.read = ReadsJson(
        [&](const rapidjson::Document& reply) { return ReadSums(reply, metrics, &sums); });
    answer = caller.Send(call);
    if (!answer.done()) break;
    all.push_back(std::move(sums));
  }
  return WithValue(answer, std::move(all));
}

}  // namespace

Answer<std::vector<RowSums>> Cluster::SumRows(const std::string& datasource,
                                              const std::vector<Interval>& intervals,
                                              const std::vector<std::string>& metrics) {
  std::vector<Part> parts;
  parts.reserve(intervals.size());
  for (const Interval& interval : intervals) {
    parts.push_back({interval, absl::StrCat("[\"", interval.ToString(), "\"]")});
  }
  return SumParts(impl_->caller, datasource, parts, metrics);
}

Answer<std::vector<RowSums>> Cluster::SumSegments(const std::string& datasource,
                                                  const std::vector<Segment>& segments,
                                                  const std::vector<std::string>& metrics) {
  std::vector<Part> parts;
  parts.reserve(segments.size());
  for (const Segment& segment : segments) {
    parts.push_back({segment.interval, OnlyThese(Descriptor(segment.interval, segment))});
  }
  return SumParts(impl_->caller, datasource, parts, metrics);
}

Answer<RowSums> Cluster::SumPublished(const std::string& datasource,
                                      const std::vector<Slice>& slices,
                                      const std::vector<std::string>& metrics) {
  std::string descriptors;
  for (const Slice& slice : slices) {
    for (const Segment* segment : slice.segments) {
      if (segment->tombstone()) continue;  // nobody serves it
      absl::StrAppend(&descriptors, descriptors.empty() ? "" : ",",
                      Descriptor(slice.interval, *segment));
    }
  }
  RowSums none;
  for (const std::string& metric : metrics) none.sums[metric] = 0;
  if (descriptors.empty()) return Answer<RowSums>::Done(std::move(none));
  auto sums = SumParts(impl_->caller, datasource,
                       {{slices.front().interval, OnlyThese(descriptors)}}, metrics);
  return sums.done() ? Answer<RowSums>::Done(std::move(sums.value().front()))
                     : Answer<RowSums>::Like(sums);
}

}  // namespace interlock::druid
