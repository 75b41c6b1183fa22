// The Streams service: what writes to datasources beside batch, and what it may still write.
#pragma once

#include "interlock/v1/streams.grpc.pb.h"
#include "lib/guard/options.h"
#include "lib/guard/streams.h"
#include "lib/lease/reservation.h"
#include "lib/store/store.h"
#include "server/executor.h"

namespace interlock::server {

// In the audit log, in the transaction of the change.
guard::Recorder AuditRecorder();

class StreamsService final : public v1::Streams::CallbackService {
 public:
  // All must outlive the service.
  StreamsService(guard::Streams& streams, store::Store& store, Executor& executor,
                 guard::Options options, lease::Limits limits)
      : streams_(streams),
        store_(store),
        executor_(executor),
        options_(std::move(options)),
        limits_(std::move(limits)) {}

  grpc::ServerUnaryReactor* RegisterStream(grpc::CallbackServerContext* context,
                                           const v1::RegisterStreamRequest* request,
                                           v1::RegisterStreamResponse* response) override;
  grpc::ServerUnaryReactor* RemoveStream(grpc::CallbackServerContext* context,
                                         const v1::RemoveStreamRequest* request,
                                         v1::RemoveStreamResponse* response) override;
  grpc::ServerUnaryReactor* ListStreams(grpc::CallbackServerContext* context,
                                        const v1::ListStreamsRequest* request,
                                        v1::ListStreamsResponse* response) override;
  // Answered in gRPC's own thread: one snapshot of the store, no call to Druid.
  grpc::ServerUnaryReactor* CheckAppend(grpc::CallbackServerContext* context,
                                        const v1::CheckAppendRequest* request,
                                        v1::CheckAppendResponse* response) override;

 private:
  guard::Streams& streams_;
  store::Store& store_;
  Executor& executor_;
  const guard::Options options_;
  const lease::Limits limits_;
};

}  // namespace interlock::server
