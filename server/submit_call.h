// IngestionCoordinator.SubmitBackfill: plans, or stores the backfill that the runner then
// does.
#pragma once

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/backfill/backfills.h"
#include "server/executor.h"

namespace interlock::server {

class SubmitCall {
 public:
  // Both must outlive it. `max_spec_bytes`: limits.max_spec_bytes.
  SubmitCall(backfill::Backfills& backfills, Executor& executor, size_t max_spec_bytes)
      : backfills_(backfills), executor_(executor), max_spec_bytes_(max_spec_bytes) {}

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const v1::SubmitBackfillRequest* request,
                                 v1::SubmitBackfillResponse* response);

 private:
  absl::Status Submit(const grpc::CallbackServerContext& context,
                      const v1::SubmitBackfillRequest& request,
                      v1::SubmitBackfillResponse& response);

  backfill::Backfills& backfills_;
  Executor& executor_;
  const size_t max_spec_bytes_;
};

}  // namespace interlock::server
