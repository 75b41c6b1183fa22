// Marks, by id only. On the overlord from 32 on (OverlordDataSourcesResource.java), on
// the coordinator before (DataSourcesResource.java): whose own marks 32 and 33 answer
// with 500, their effect made.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/druid/cluster_impl.h"
#include "lib/druid/url.h"

namespace interlock::druid {
namespace {

// numChangedSegments of groups, segmentStateChanged of single segments up to 31.
std::string ReadMarked(const HttpReply& reply, Marked* marked) {
  rapidjson::Document document;
  std::string why;
  if (!ParseJson(reply.body, &document, &why)) return why;
  const std::optional<int64_t> count = IntMember(document, "numChangedSegments");
  const std::optional<bool> changed = BoolMember(document, "segmentStateChanged");
  if (!count.has_value() && !changed.has_value()) return "a mark that says nothing of its effect";
  marked->changed = count.has_value() ? *count : (*changed ? 1 : 0);
  return "";
}

}  // namespace

Answer<Marked> Cluster::Mark(const std::string& endpoint, const std::string& datasource,
                             const std::string& rest, const std::string& body) {
  Marked marked;
  bool nothing_served = false;
  Call call;
  call.endpoint = endpoint;
  call.method = "POST";
  call.body = body;
  call.changes = true;
  call.read = [&](const HttpReply& reply) {
    nothing_served = reply.status == 204;
    return nothing_served ? std::string() : ReadMarked(reply, &marked);
  };
  std::vector<Call> ways = {call, call};
  ways[0].path = absl::StrCat("/druid/indexer/v1/datasources/", EscapeUrl(datasource), "/", rest);
  ways[1].path =
      absl::StrCat("/druid/coordinator/v1/datasources/", EscapeUrl(datasource), "/", rest);
  ways[1].service = Service::kCoordinator;
  size_t way = impl_->Remembered(impl_->mark_way);
  const Answer<HttpReply> answer = impl_->caller.SendSupported(ways, &way);
  impl_->Remember(&impl_->mark_way, answer.cause() == Cause::kUnsupported ? 0 : way);
  if (answer.done() && nothing_served) {
    return Answer<Marked>::Refused(
        Cause::kInvalid, absl::StrCat("Druid marks nothing of ", datasource,
                                      " while none of it is served (204, up to version 31)"));
  }
  return WithValue(answer, marked);
}

namespace {

std::string IdsJson(const std::vector<std::string>& ids) {
  return absl::StrCat(
      "{\"segmentIds\":[",
      absl::StrJoin(ids, ",",
                    [](std::string* out, const std::string& id) { out->append(QuoteJson(id)); }),
      "]}");
}

// Druid refuses an empty list, and one that is empty by mistake should be seen here.
Answer<Marked> NoIds() { return Answer<Marked>::Refused(Cause::kInvalid, "no segment ids"); }

}  // namespace

Answer<Marked> Cluster::MarkUnused(const std::string& datasource,
                                   const std::vector<std::string>& ids) {
  return ids.empty() ? NoIds() : Mark("mark_unused", datasource, "markUnused", IdsJson(ids));
}

Answer<Marked> Cluster::MarkUsed(const std::string& datasource,
                                 const std::vector<std::string>& ids) {
  return ids.empty() ? NoIds() : Mark("mark_used", datasource, "markUsed", IdsJson(ids));
}

Answer<Marked> Cluster::ReviveSegment(const std::string& datasource, const std::string& id) {
  return Mark("segment_revive", datasource, absl::StrCat("segments/", EscapeUrl(id)), "");
}

}  // namespace interlock::druid
