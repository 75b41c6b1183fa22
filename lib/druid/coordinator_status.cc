// What the coordinator says of loading, and of the rules that decide about it.
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"
#include "lib/druid/error_body.h"
#include "lib/druid/url.h"

namespace interlock::druid {
namespace {

// A 200 of the type application/json, and this text.
constexpr absl::string_view kNoneThere =
    "No used segment found for the given datasource and interval";

// 204, the text above, or {DS: segments left to load}.
std::string ReadLoadStatus(const HttpReply& reply, const std::string& datasource,
                           LoadStatus* status) {
  *status = LoadStatus();
  const absl::string_view body = absl::StripAsciiWhitespace(reply.body);
  if (reply.status == 204 || body == kNoneThere) return "";
  rapidjson::Document document;
  std::string why;
  if (!ParseJson(body, &document, &why)) return why;
  const std::optional<int64_t> left = IntMember(document, datasource.c_str());
  if (!left.has_value()) return absl::StrCat("a load status without a count: ", Shortened(body));
  status->any_used = true;
  status->unavailable_segments = *left;
  return "";
}

}  // namespace

Answer<LoadStatus> Cluster::GetLoadStatus(const std::string& datasource, const Interval& interval,
                                          bool refresh) {
  LoadStatus status;
  Call call;
  call.endpoint = "load_status";
  call.service = Service::kCoordinator;
  call.path = absl::StrCat("/druid/coordinator/v1/datasources/", EscapeUrl(datasource),
                           "/loadstatus?forceMetadataRefresh=", refresh ? "true" : "false",
                           "&interval=", EscapeUrl(interval.ToString()), "&simple");
  call.json_reply = false;
  call.read = [&](const HttpReply& reply) { return ReadLoadStatus(reply, datasource, &status); };
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, status);
}

Answer<std::string> Cluster::GetRules(const std::string& datasource) {
  std::string rules;
  Call call;
  call.endpoint = "rules";
  call.service = Service::kCoordinator;
  call.path = absl::StrCat("/druid/coordinator/v1/rules/", EscapeUrl(datasource), "?full");
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    if (!reply.IsArray()) return std::string("rules that are no array");
    rules = WriteJson(reply);
    return std::string();
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(rules));
}

}  // namespace interlock::druid
