// IngestionCoordinator.DropAndKill: plans, or stores the drop that the worker then does.
#pragma once

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/drop/drops.h"
#include "server/executor.h"

namespace interlock::server {

class DropCall {
 public:
  // Both must outlive it.
  DropCall(drop::Drops& drops, Executor& executor) : drops_(drops), executor_(executor) {}

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const v1::DropAndKillRequest* request,
                                 v1::DropAndKillResponse* response);

 private:
  absl::Status Drop(const grpc::CallbackServerContext& context,
                    const v1::DropAndKillRequest& request, v1::DropAndKillResponse& response);

  drop::Drops& drops_;
  Executor& executor_;
};

}  // namespace interlock::server
