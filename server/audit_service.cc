#include "server/audit_service.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/verify_chain.h"
#include "server/conversions/audit.h"
#include "server/conversions/time.h"
#include "server/page_token.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

constexpr int kDefaultPageSize = 100;
constexpr int kMaxPageSize = 1000;

absl::StatusOr<audit::Page> PageOf(const v1::ListAuditEventsRequest& request) {
  audit::Page page;
  page.size =
      request.page_size() <= 0 ? kDefaultPageSize : std::min(request.page_size(), kMaxPageSize);
  page.oldest_first = request.oldest_first();
  const auto place = PagePlace(request);
  if (!place.ok()) return place.status();
  // With its mark it is a number that a page before has told; without, there is none.
  if (!absl::SimpleAtoi(*place, &page.before_sequence)) page.before_sequence = 0;
  return page;
}

}  // namespace

absl::Status AuditService::List(const v1::ListAuditEventsRequest& request,
                                v1::ListAuditEventsResponse& response) {
  auto filter = FromProto(request);
  if (!filter.ok()) return filter.status();
  auto page = PageOf(request);
  if (!page.ok()) return page.status();
  return store_.Read([&](store::Transaction& tx) {
    auto listed = audit::List(tx, *filter, *page);
    if (!listed.ok()) return listed.status();
    for (const auto& event : listed->events) ToProto(event, response.add_events());
    if (listed->next > 0)
      response.set_next_page_token(PageToken(request, absl::StrCat(listed->next)));
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* AuditService::ListAuditEvents(grpc::CallbackServerContext* context,
                                                        const v1::ListAuditEventsRequest* request,
                                                        v1::ListAuditEventsResponse* response) {
  return Unary(context, request, executor_,
               [this, request, response] { return List(*request, *response); });
}

grpc::ServerUnaryReactor* AuditService::VerifyAudit(grpc::CallbackServerContext* context,
                                                    const v1::VerifyAuditRequest* request,
                                                    v1::VerifyAuditResponse* response) {
  return Unary(context, request, executor_, [this, request, response]() -> absl::Status {
    if (request->from_sequence() < 0 || request->to_sequence() < 0) {
      return InvalidField(request->from_sequence() < 0 ? "/from_sequence" : "/to_sequence",
                          "is below 0", "a sequence, or 0 for all");
    }
    return store_.Read([&](store::Transaction& tx) {
      auto report = audit::VerifyChain(tx, request->from_sequence(), request->to_sequence());
      if (report.ok()) ToProto(*report, response);
      return report.status();
    });
  });
}

}  // namespace interlock::server
