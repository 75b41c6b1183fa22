// IngestionCoordinator.VerifySingleVersion: looks at Druid, judges, tells; what it saw opens
// and closes findings as a sweep's look does.
#pragma once

#include <memory>

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "server/executor.h"

namespace interlock::server {

struct VerifySettings {
  absl::Duration grace;             // verification.grace
  int64_t max_partitions = 10'000;  // limits.max_partitions_per_call
};

class VerifyCall {
 public:
  // All references must outlive it.
  VerifyCall(store::Store& store, druid::Cluster& cluster, Executor& executor,
             VerifySettings settings);

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const v1::VerifySingleVersionRequest* request,
                                 v1::VerifySingleVersionResponse* response);

 private:
  absl::Status Verify(const grpc::CallbackServerContext& context,
                      const v1::VerifySingleVersionRequest& request,
                      v1::VerifySingleVersionResponse& response);

  store::Store& store_;
  druid::Cluster& cluster_;
  Executor& executor_;
  const VerifySettings settings_;
};

}  // namespace interlock::server
