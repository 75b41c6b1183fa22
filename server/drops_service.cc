#include "server/drops_service.h"

#include <algorithm>
#include <utility>

#include "server/caller.h"
#include "server/conversions/drop.h"
#include "server/conversions/time.h"
#include "server/list_writer.h"
#include "server/page_token.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

absl::StatusOr<drop::Filter> FilterOf(const v1::ListDropsRequest& request) {
  drop::Filter filter;
  filter.datasource = request.datasource();
  auto interval = FromProto(request.interval(), "interval");
  if (!interval.ok()) return interval.status();
  filter.overlapping = *interval;
  for (int i = 0; i < request.states_size(); ++i) {
    const auto state = FromProto(request.states(i));
    if (!state) return InvalidField("/states/" + std::to_string(i), "is no state of a drop", "");
    filter.states.push_back(*state);
  }
  if (request.has_created_since_time()) filter.since = FromProto(request.created_since_time());
  if (request.has_created_until_time()) filter.until = FromProto(request.created_until_time());
  return filter;
}

}  // namespace

template <class Response>
grpc::ServerUnaryReactor* DropsService::Change(grpc::CallbackServerContext* context,
                                               const google::protobuf::Message* request,
                                               Response* response,
                                               std::function<absl::StatusOr<drop::Drop>()> change) {
  return Unary(context, request, executor_, [response, change = std::move(change)] {
    auto drop = change();
    if (drop.ok()) ToProto(*drop, response->mutable_drop());
    return drop.status();
  });
}

grpc::ServerUnaryReactor* DropsService::GetDrop(grpc::CallbackServerContext* context,
                                                const v1::GetDropRequest* request,
                                                v1::GetDropResponse* response) {
  return Unary(context, request, executor_, [this, request, response] {
    auto detail = drops_.GetDetail(request->drop_id());
    if (detail.ok()) ToProto(*detail, response->mutable_drop());
    return detail.status();
  });
}

grpc::ServerUnaryReactor* DropsService::ListDrops(grpc::CallbackServerContext* context,
                                                  const v1::ListDropsRequest* request,
                                                  v1::ListDropsResponse* response) {
  return Unary(context, request, executor_, [this, request, response]() -> absl::Status {
    auto filter = FilterOf(*request);
    if (!filter.ok()) return filter.status();
    const auto place = PagePlace(*request);
    if (!place.ok()) return place.status();
    auto page = drops_.List(*filter, request->page_size(), *place);
    if (!page.ok()) return page.status();
    for (const auto& drop : page->drops) ToProto(drop, response->add_drops());
    response->set_next_page_token(PageToken(*request, page->next));
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::GetManifestResponse>* DropsService::GetManifest(
    grpc::CallbackServerContext* /*context*/, const v1::GetManifestRequest* request) {
  auto detail = drops_.GetDetail(request->drop_id());
  std::vector<v1::GetManifestResponse> entries;
  if (detail.ok()) {
    for (const auto& row : detail->manifest) {
      v1::GetManifestResponse entry;
      ToProto(row, entry.mutable_entry());
      const auto& wanted = request->states();
      if (wanted.empty() || std::count(wanted.begin(), wanted.end(), entry.entry().state()) > 0) {
        entries.push_back(std::move(entry));
      }
    }
  }
  return new ListWriter<v1::GetManifestResponse>(std::move(entries), ToGrpc(detail.status()));
}

grpc::ServerUnaryReactor* DropsService::ApproveKill(grpc::CallbackServerContext* context,
                                                    const v1::ApproveKillRequest* request,
                                                    v1::ApproveKillResponse* response) {
  return Change(context, request, response, [this, context, request] {
    return drops_.Approve(request->drop_id(), request->manifest_digest(), request->accept_clock(),
                          CallerOf(*context, request->request_id(), request->reason()));
  });
}

grpc::ServerUnaryReactor* DropsService::ExtendWindow(grpc::CallbackServerContext* context,
                                                     const v1::ExtendWindowRequest* request,
                                                     v1::ExtendWindowResponse* response) {
  return Change(context, request, response, [this, context, request] {
    return drops_.Extend(request->drop_id(), FromProto(request->extend_by()),
                         CallerOf(*context, request->request_id(), request->reason()));
  });
}

grpc::ServerUnaryReactor* DropsService::RestoreDrop(grpc::CallbackServerContext* context,
                                                    const v1::RestoreDropRequest* request,
                                                    v1::RestoreDropResponse* response) {
  return Change(context, request, response, [this, context, request] {
    if (request->validate_only()) return drops_.CheckRestore(request->drop_id());
    return drops_.Restore(request->drop_id(),
                          CallerOf(*context, request->request_id(), request->reason()));
  });
}

grpc::ServerUnaryReactor* DropsService::CancelDrop(grpc::CallbackServerContext* context,
                                                   const v1::CancelDropRequest* request,
                                                   v1::CancelDropResponse* response) {
  return Change(context, request, response, [this, context, request] {
    return drops_.Cancel(request->drop_id(),
                         CallerOf(*context, request->request_id(), request->reason()));
  });
}

}  // namespace interlock::server
