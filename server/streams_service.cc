#include "server/streams_service.h"

#include "lib/audit/audit.h"
#include "server/caller.h"
#include "server/conversions/stream.h"
#include "server/page_token.h"
#include "server/unary.h"

namespace interlock::server {

guard::Recorder AuditRecorder() {
  return [](store::Transaction& tx, const guard::Declaration& change, const audit::Caller& caller) {
    audit::Event event;
    event.caller = caller;
    event.method = change.method;
    event.datasource = change.datasource;
    event.subject = change.name;
    event.before = change.before;
    event.after = change.after;
    return audit::Record(tx, event);
  };
}

grpc::ServerUnaryReactor* StreamsService::RegisterStream(grpc::CallbackServerContext* context,
                                                         const v1::RegisterStreamRequest* request,
                                                         v1::RegisterStreamResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response] {
    auto told = streams_.Register(FromProto(*request), request->validate_only(),
                                  CallerOf(*context, request->request_id(), request->reason()));
    if (!told.ok()) return told.status();
    ToProto(*told, store_.Now(), response->mutable_stream());
    for (const auto& notice : told->notices) ToProto(notice, response->add_notices());
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* StreamsService::RemoveStream(grpc::CallbackServerContext* context,
                                                       const v1::RemoveStreamRequest* request,
                                                       v1::RemoveStreamResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response] {
    auto left = streams_.Remove(request->datasource(), request->stream(),
                                CallerOf(*context, request->request_id(), request->reason()));
    if (!left.ok()) return left.status();
    if (*left) ToProto(**left, store_.Now(), response->mutable_stream());
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* StreamsService::ListStreams(grpc::CallbackServerContext* context,
                                                      const v1::ListStreamsRequest* request,
                                                      v1::ListStreamsResponse* response) {
  return Unary(context, request, executor_, [this, request, response]() -> absl::Status {
    const auto place = PagePlace(*request);
    if (!place.ok()) return place.status();
    auto page = streams_.List(request->datasource(), request->page_size(), *place);
    if (!page.ok()) return page.status();
    for (const auto& told : page->streams) {
      ToProto(told, store_.Now(), response->add_streams());
    }
    response->set_next_page_token(PageToken(*request, page->next));
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* StreamsService::CheckAppend(grpc::CallbackServerContext* context,
                                                      const v1::CheckAppendRequest* request,
                                                      v1::CheckAppendResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (!Bounded(*request, reactor)) return reactor;
  auto answer = guard::CheckAppend(store_, FromProto(*request), options_, limits_);
  if (answer.ok()) ToProto(*answer, response);
  reactor->Finish(ToGrpc(answer.status()));
  return reactor;
}

}  // namespace interlock::server
