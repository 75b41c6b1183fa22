// The part of the Drops service that keeps retention policies.
#include <utility>

#include "server/caller.h"
#include "server/conversions/drop.h"
#include "server/drops_service.h"
#include "server/page_token.h"
#include "server/unary.h"

namespace interlock::server {

grpc::ServerUnaryReactor* DropsService::PutRetentionPolicy(
    grpc::CallbackServerContext* context, const v1::PutRetentionPolicyRequest* request,
    v1::PutRetentionPolicyResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response]() -> absl::Status {
    auto policy = FromProto(request->policy());
    if (!policy.ok()) return policy.status();
    if (request->validate_only()) {
      auto plans = retention_.Preview(*policy);
      if (!plans.ok()) return plans.status();
      for (const auto& plan : *plans) ToProto(plan, false, response->add_plans());
      *response->mutable_policy() = request->policy();
      return absl::OkStatus();
    }
    auto put = retention_.Put(*std::move(policy),
                              CallerOf(*context, request->request_id(), request->reason()));
    if (put.ok()) ToProto(*put, response->mutable_policy());
    return put.status();
  });
}

grpc::ServerUnaryReactor* DropsService::ListRetentionPolicies(
    grpc::CallbackServerContext* context, const v1::ListRetentionPoliciesRequest* request,
    v1::ListRetentionPoliciesResponse* response) {
  return Unary(context, request, executor_, [this, request, response]() -> absl::Status {
    const auto place = PagePlace(*request);
    if (!place.ok()) return place.status();
    auto page = retention_.List(request->page_size(), *place);
    if (!page.ok()) return page.status();
    for (const auto& policy : page->policies) ToProto(policy, response->add_policies());
    response->set_next_page_token(PageToken(*request, page->next));
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* DropsService::DeleteRetentionPolicy(
    grpc::CallbackServerContext* context, const v1::DeleteRetentionPolicyRequest* request,
    v1::DeleteRetentionPolicyResponse* /*response*/) {
  return Unary(context, request, executor_, [this, context, request] {
    return retention_.Delete(request->name(),
                             CallerOf(*context, request->request_id(), request->reason()));
  });
}

}  // namespace interlock::server
