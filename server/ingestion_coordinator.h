// The IngestionCoordinator service: the four verbs, each in a file of its own.
#pragma once

#include "interlock/v1/ingestion_coordinator.grpc.pb.h"
#include "server/drop_call.h"
#include "server/reserve_interval.h"
#include "server/submit_call.h"
#include "server/verify_call.h"

namespace interlock::server {

class IngestionCoordinatorService final : public v1::IngestionCoordinator::CallbackService {
 public:
  // All must outlive the service.
  IngestionCoordinatorService(ReserveIntervalCall& reserve, SubmitCall& submit, VerifyCall& verify,
                              DropCall& drop)
      : reserve_(reserve), submit_(submit), verify_(verify), drop_(drop) {}

  grpc::ServerUnaryReactor* ReserveInterval(grpc::CallbackServerContext* context,
                                            const v1::ReserveIntervalRequest* request,
                                            v1::ReserveIntervalResponse* response) override {
    return reserve_.Call(context, request, response);
  }
  grpc::ServerUnaryReactor* SubmitBackfill(grpc::CallbackServerContext* context,
                                           const v1::SubmitBackfillRequest* request,
                                           v1::SubmitBackfillResponse* response) override {
    return submit_.Call(context, request, response);
  }
  grpc::ServerUnaryReactor* VerifySingleVersion(
      grpc::CallbackServerContext* context, const v1::VerifySingleVersionRequest* request,
      v1::VerifySingleVersionResponse* response) override {
    return verify_.Call(context, request, response);
  }
  grpc::ServerUnaryReactor* DropAndKill(grpc::CallbackServerContext* context,
                                        const v1::DropAndKillRequest* request,
                                        v1::DropAndKillResponse* response) override {
    return drop_.Call(context, request, response);
  }

 private:
  ReserveIntervalCall& reserve_;
  SubmitCall& submit_;
  VerifyCall& verify_;
  DropCall& drop_;
};

}  // namespace interlock::server
