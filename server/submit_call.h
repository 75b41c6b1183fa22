// IngestionCoordinator.SubmitBackfill: plans, or stores the backfill that the runner then
// does.
#pragma once

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/backfill/backfills.h"
#include "server/correction_call.h"
#include "server/executor.h"

namespace interlock::server {

class SubmitCall {
 public:
  // All must outlive it. `max_spec_bytes`: limits.max_spec_bytes.
  SubmitCall(backfill::Backfills& backfills, CorrectionCall& corrections, Executor& executor,
             size_t max_spec_bytes)
      : backfills_(backfills),
        corrections_(corrections),
        executor_(executor),
        max_spec_bytes_(max_spec_bytes) {}

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const v1::SubmitBackfillRequest* request,
                                 v1::SubmitBackfillResponse* response);

 private:
  absl::Status Submit(const grpc::CallbackServerContext& context,
                      const v1::SubmitBackfillRequest& request,
                      v1::SubmitBackfillResponse& response);

  // With `correction`: beside what is sealed.
  // The spec mended as far as can be, in place of the refusal.
  absl::Status Offer(const v1::SubmitBackfillRequest& request,
                     const backfill::BackfillRequest& asked, v1::SubmitBackfillResponse& response);
  absl::Status Correct(const grpc::CallbackServerContext& context,
                       const v1::SubmitBackfillRequest& request,
                       const backfill::BackfillRequest& asked,
                       v1::SubmitBackfillResponse& response);
  absl::Status Answer(const absl::StatusOr<backfill::Backfills::Submitted>& submitted,
                      v1::SubmitBackfillResponse& response);

  backfill::Backfills& backfills_;
  CorrectionCall& corrections_;
  Executor& executor_;
  const size_t max_spec_bytes_;
};

}  // namespace interlock::server
