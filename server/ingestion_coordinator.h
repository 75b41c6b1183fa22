// The IngestionCoordinator service: the four verbs, each in a file of its own.
#pragma once

#include "interlock/v1/ingestion_coordinator.grpc.pb.h"
#include "server/reserve_interval.h"

namespace interlock::server {

class IngestionCoordinatorService final : public v1::IngestionCoordinator::CallbackService {
 public:
  // All must outlive the service.
  explicit IngestionCoordinatorService(ReserveIntervalCall& reserve) : reserve_(reserve) {}

  grpc::ServerUnaryReactor* ReserveInterval(grpc::CallbackServerContext* context,
                                            const v1::ReserveIntervalRequest* request,
                                            v1::ReserveIntervalResponse* response) override {
    return reserve_.Call(context, request, response);
  }

 private:
  ReserveIntervalCall& reserve_;
};

}  // namespace interlock::server
