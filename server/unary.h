// The one shape of a call that waits for the store or for Druid: it runs on the executor,
// and what it returns is told to the caller.
#pragma once

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "lib/time/status_reason.h"
#include "server/executor.h"
#include "server/field_bounds.h"
#include "server/status_conversion.h"

namespace interlock::server {

// False where the call has been refused, for a field that is too long.
inline bool Bounded(const google::protobuf::Message& request, grpc::ServerUnaryReactor* reactor) {
  const absl::Status status = CheckBounds(request);
  if (!status.ok()) reactor->Finish(ToGrpc(status));
  return status.ok();
}

// Runs `act` and finishes the call with it. Where a field of the request is too long, or too
// much waits already, the call is refused and `act` never runs.
inline grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context,
                                       const google::protobuf::Message* request, Executor& executor,
                                       std::function<absl::Status()> act) {
  auto* reactor = context->DefaultReactor();
  if (!Bounded(*request, reactor)) return reactor;
  const bool taken = executor.Run([reactor, context, act = std::move(act)] {
    if (context->IsCancelled()) {
      // Nobody listens any more, and nothing was begun.
      return reactor->Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the caller has gone"));
    }
    reactor->Finish(ToGrpc(act()));
  });
  if (!taken) {
    reactor->Finish(ToGrpc(WithRetryAfter(
        WithReason(absl::ResourceExhaustedError("too many calls wait already"), "SERVER_BUSY"),
        std::chrono::seconds(1))));
  }
  return reactor;
}

}  // namespace interlock::server
