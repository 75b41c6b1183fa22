#include "server/seals_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/caller.h"
#include "server/conversions/seal.h"
#include "server/conversions/time.h"
#include "server/page_token.h"
#include "server/seal_policies.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

constexpr int64_t kDefaultGroups = 1000;
constexpr int kDefaultPolicies = 100;
constexpr int kMostPolicies = 1000;

void AddNotice(const std::string& reason, const std::string& message, v1::Notice* notice) {
  notice->set_reason(reason);
  notice->set_message(message);
}

absl::StatusOr<seal::SealRequest> RequestOf(const v1::SealIntervalRequest& request,
                                            v1::SealIntervalResponse& response) {
  google::protobuf::RepeatedPtrField<std::string> one;
  if (!request.interval().empty()) *one.Add() = request.interval();
  auto read = FromProto(one, "interval");
  if (!read.ok()) return read.status();
  *response.mutable_reading() = read->readings.front();
  seal::SealRequest seal;
  seal.datasource = request.datasource();
  seal.interval = read->intervals.front();
  seal.label = request.label();
  seal.snapshot = FromProto(request.snapshot());
  seal.accept_compaction = request.accept_compaction();
  seal.corrections_datasource = request.corrections_datasource();
  return seal;
}

absl::StatusOr<seal::Seals::Filter> FilterOf(const v1::ListSealsRequest& request) {
  seal::Seals::Filter filter;
  filter.datasource = request.datasource();
  auto interval = FromProto(request.interval(), "interval");
  if (!interval.ok()) return interval.status();
  filter.overlapping = *interval;
  for (int i = 0; i < request.states_size(); ++i) {
    const auto state = FromProto(request.states(i));
    if (!state) return InvalidField(absl::StrCat("/states/", i), "is no state of a seal", "");
    filter.states.push_back(*state);
  }
  filter.label = request.label();
  return filter;
}

}  // namespace

absl::Status SealsService::Seal(const grpc::CallbackServerContext& context,
                                const v1::SealIntervalRequest& request,
                                v1::SealIntervalResponse& response) {
  auto seal = RequestOf(request, response);
  if (!seal.ok()) return seal.status();
  auto sealed = request.validate_only()
                    ? world_.seals.Preview(*seal)
                    : world_.seals.SealInterval(
                          *seal, CallerOf(context, request.request_id(), request.reason()));
  if (!sealed.ok()) return sealed.status();
  if (!request.validate_only() && !sealed->attached) {
    absl::Status status = world_.look(sealed->seal.id, world_.store.Now());
    if (!status.ok()) return status;
  }
  ToProto(sealed->seal, response.mutable_seal());
  response.set_attached(sealed->attached);
  if (sealed->compacted) {
    AddNotice("COMPACTION_CONFIGURED",
              "compaction will rewrite what is sealed: ids change, content does not",
              response.add_notices());
  }
  return TellDrops(sealed->seal, response);
}

// What is sealed is what is visible: a drop's segments are kept out of it, for as long as the
// seal stands.
absl::Status SealsService::TellDrops(const seal::Seal& seal,
                                     v1::SealIntervalResponse& response) const {
  drop::Filter filter;
  filter.datasource = seal.datasource;
  filter.overlapping = seal.interval;
  auto page = world_.drops.List(filter, drop::kMaxPageSize, "");
  if (!page.ok()) return page.status();
  for (const drop::Drop& drop : page->drops) {
    if (drop.revivable == 0) continue;
    v1::Notice* notice = response.add_notices();
    AddNotice("DROPPED_HERE",
              absl::StrCat("drop ", drop.id, " (", drop::Name(drop.state), ") has ", drop.revivable,
                           " segments here that it marked unused: they are not in what is sealed, "
                           "and the seal stops both their kill and their restore"),
              notice);
    notice->set_remedy(
        absl::StrCat("if they belong to what was given out: interlockctl seals "
                     "unseal, then drops restore ",
                     drop.id, ", then seal again"));
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* SealsService::SealInterval(grpc::CallbackServerContext* context,
                                                     const v1::SealIntervalRequest* request,
                                                     v1::SealIntervalResponse* response) {
  return Unary(context, request, world_.executor,
               [this, context, request, response] { return Seal(*context, *request, *response); });
}

grpc::ServerUnaryReactor* SealsService::GetSeal(grpc::CallbackServerContext* context,
                                                const v1::GetSealRequest* request,
                                                v1::GetSealResponse* response) {
  return Unary(context, request, world_.executor, [this, request, response]() -> absl::Status {
    const int64_t wanted = request->page_size() > 0 ? request->page_size() : kDefaultGroups;
    const auto place = PagePlace(*request);
    if (!place.ok()) return place.status();
    auto detail =
        world_.seals.Get(request->seal_id(), request->include_snapshot() ? wanted : 0, *place);
    if (!detail.ok()) return detail.status();
    ToProto(detail->seal, response->mutable_seal());
    for (const auto& group : detail->groups) ToProto(group, response->add_groups());
    response->set_next_page_token(PageToken(*request, detail->next));
    return absl::OkStatus();
  });
}

absl::Status SealsService::List(const v1::ListSealsRequest& request,
                                v1::ListSealsResponse& response) {
  auto filter = FilterOf(request);
  if (!filter.ok()) return filter.status();
  const auto place = PagePlace(request);
  if (!place.ok()) return place.status();
  auto page = world_.seals.List(*filter, request.page_size(), *place);
  if (!page.ok()) return page.status();
  for (const auto& seal : page->seals) ToProto(seal, response.add_seals());
  response.set_next_page_token(PageToken(request, page->next));
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* SealsService::ListSeals(grpc::CallbackServerContext* context,
                                                  const v1::ListSealsRequest* request,
                                                  v1::ListSealsResponse* response) {
  return Unary(context, request, world_.executor,
               [this, request, response] { return List(*request, *response); });
}

grpc::ServerUnaryReactor* SealsService::UnsealInterval(grpc::CallbackServerContext* context,
                                                       const v1::UnsealIntervalRequest* request,
                                                       v1::UnsealIntervalResponse* response) {
  return Unary(
      context, request, world_.executor, [this, context, request, response]() -> absl::Status {
        auto seal =
            world_.seals.Unseal(request->seal_id(), FromProto(request->unseal_for()),
                                CallerOf(*context, request->request_id(), request->reason()));
        if (!seal.ok()) return seal.status();
        ToProto(*seal, response->mutable_seal());
        return seal->unseal_until ? world_.look(seal->id, *seal->unseal_until) : absl::OkStatus();
      });
}

absl::Status SealsService::Corrections(const v1::ListCorrectionsRequest& request,
                                       v1::ListCorrectionsResponse& response) {
  seal::CorrectionFilter filter;
  filter.datasource = request.datasource();
  auto interval = FromProto(request.interval(), "interval");
  if (!interval.ok()) return interval.status();
  filter.overlapping = *interval;
  filter.seal_id = request.seal_id();
  if (request.has_created_since_time()) filter.since = FromProto(request.created_since_time());
  if (request.has_created_until_time()) filter.until = FromProto(request.created_until_time());
  const auto place = PagePlace(request);
  if (!place.ok()) return place.status();
  auto page = world_.corrections.List(filter, request.page_size(), *place);
  if (!page.ok()) return page.status();
  for (const auto& correction : page->corrections) {
    ToProto(correction, !request.omit_deltas(), response.add_corrections());
  }
  for (const auto& total : page->totals) ToProto(total, response.add_totals());
  response.set_next_page_token(PageToken(request, page->next));
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* SealsService::ListCorrections(grpc::CallbackServerContext* context,
                                                        const v1::ListCorrectionsRequest* request,
                                                        v1::ListCorrectionsResponse* response) {
  return Unary(context, request, world_.executor,
               [this, request, response] { return Corrections(*request, *response); });
}

absl::Status SealsService::PutPolicy(const grpc::CallbackServerContext& context,
                                     const v1::PutSealPolicyRequest& request,
                                     v1::PutSealPolicyResponse& response) {
  const seal::SealPolicy policy = FromProto(request.policy());
  if (absl::Status status = CheckLabel(policy); !status.ok()) return status;
  if (!request.validate_only()) {
    auto stored = seal::PutPolicy(world_.store, policy,
                                  CallerOf(context, request.request_id(), request.reason()));
    if (!stored.ok()) return stored.status();
    ToProto(*stored, response.mutable_policy());
    return world_.apply_policies();
  }
  if (absl::Status status = seal::CheckPolicy(policy); !status.ok()) return status;
  *response.mutable_policy() = request.policy();
  auto due = DueNow(world_.store, world_.cluster, policy);
  if (!due.ok()) return due.status();
  for (const seal::SealRequest& one : *due) {
    seal::Seal would;
    would.datasource = one.datasource;
    would.interval = one.interval;
    would.label = one.label;
    would.policy = one.policy;
    would.snapshot = one.snapshot;
    would.corrections_datasource = one.corrections_datasource.empty()
                                       ? seal::DefaultCorrections(one.datasource)
                                       : one.corrections_datasource;
    ToProto(would, response.add_would_seal());
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* SealsService::PutSealPolicy(grpc::CallbackServerContext* context,
                                                      const v1::PutSealPolicyRequest* request,
                                                      v1::PutSealPolicyResponse* response) {
  return Unary(context, request, world_.executor, [this, context, request, response] {
    return PutPolicy(*context, *request, *response);
  });
}

grpc::ServerUnaryReactor* SealsService::ListSealPolicies(grpc::CallbackServerContext* context,
                                                         const v1::ListSealPoliciesRequest* request,
                                                         v1::ListSealPoliciesResponse* response) {
  return Unary(context, request, world_.executor, [this, request, response]() -> absl::Status {
    const int size = request->page_size() <= 0 ? kDefaultPolicies
                                               : std::min(request->page_size(), kMostPolicies);
    const auto place = PagePlace(*request);
    if (!place.ok()) return place.status();
    auto policies = seal::ListPolicies(world_.store, *place, size);
    if (!policies.ok()) return policies.status();
    for (const auto& policy : *policies) ToProto(policy, response->add_policies());
    if (static_cast<int>(policies->size()) == size) {
      response->set_next_page_token(PageToken(*request, policies->back().name));
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* SealsService::DeleteSealPolicy(grpc::CallbackServerContext* context,
                                                         const v1::DeleteSealPolicyRequest* request,
                                                         v1::DeleteSealPolicyResponse* response) {
  return Unary(context, request, world_.executor, [this, context, request, response] {
    response->Clear();
    return seal::DeletePolicy(world_.store, request->name(),
                              CallerOf(*context, request->request_id(), request->reason()));
  });
}

}  // namespace interlock::server
