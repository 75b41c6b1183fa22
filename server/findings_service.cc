#include "server/findings_service.h"

#include <algorithm>

#include "server/conversions/finding.h"
#include "server/page_token.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

constexpr int kMaxPageSize = 1'000;
constexpr int kDefaultPageSize = 100;

bool Matches(const sweep::Filter& filter, const guard::Finding& finding) {
  if (finding.closed ? !filter.closed : !filter.open) return false;
  if (filter.seen_since && finding.seen < *filter.seen_since) return false;
  const auto& kinds = filter.kinds;
  if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), finding.kind) == kinds.end()) {
    return false;
  }
  return !filter.overlapping || finding.intervals.empty() ||
         std::any_of(finding.intervals.begin(), finding.intervals.end(),
                     [&](const Interval& one) { return one.Overlaps(*filter.overlapping); });
}

// What the guard of streams found: few, so all of them stand on the first page.
absl::Status AddStreams(store::Transaction& tx, const sweep::Filter& filter,
                        v1::ListFindingsResponse* response) {
  auto found = guard::ListFindings(tx, filter.datasource, !filter.closed, kMaxPageSize);
  if (!found.ok()) return found.status();
  for (const auto& finding : *found) {
    if (Matches(filter, finding)) ToProto(finding, response->add_findings());
  }
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* FindingsService::ListFindings(grpc::CallbackServerContext* context,
                                                        const v1::ListFindingsRequest* request,
                                                        v1::ListFindingsResponse* response) {
  return Unary(context, request, executor_, [this, request, response]() -> absl::Status {
    const auto filter = FromProto(*request);
    if (!filter.ok()) return filter.status();
    const int size =
        request->page_size() <= 0 ? kDefaultPageSize : std::min(request->page_size(), kMaxPageSize);
    const auto place = PagePlace(*request);
    if (!place.ok()) return place.status();
    return store_.Read([&](store::Transaction& tx) {
      auto listed = sweep::List(tx, *filter, size, *place);
      if (!listed.ok()) return listed.status();
      auto swept = sweep::ListSwept(tx, request->datasource());
      if (!swept.ok()) return swept.status();
      response->Clear();
      for (const auto& finding : listed->findings) ToProto(finding, response->add_findings());
      for (const auto& one : *swept) ToProto(one, response->add_sweeps());
      response->set_next_page_token(PageToken(*request, listed->next));
      if (!request->page_token().empty()) return absl::OkStatus();
      return AddStreams(tx, *filter, response);
    });
  });
}

}  // namespace interlock::server
