// IngestionCoordinator.ReserveInterval: from the wire to the lease table and back.
#pragma once

#include <chrono>

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/lease/reservations.h"
#include "lib/store/store.h"
#include "server/lease_settings.h"
#include "server/metrics.h"
#include "server/waiting_line.h"

namespace interlock::server {

class ReserveIntervalCall {
 public:
  // All must outlive it.
  ReserveIntervalCall(store::Store& store, Metrics& metrics, WaitingLine& line,
                      const LeaseSettings& settings);

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const v1::ReserveIntervalRequest* request,
                                 v1::ReserveIntervalResponse* response);

 private:
  absl::StatusOr<lease::ReserveRequest> Validate(const grpc::CallbackServerContext& context,
                                                 const v1::ReserveIntervalRequest& request,
                                                 v1::ReserveIntervalResponse& response) const;
  void Plan(const lease::ReserveRequest& request, const std::string& identity,
            grpc::ServerUnaryReactor* reactor, v1::ReserveIntervalResponse* response);

  // Fills the reply, and counts.
  void Tell(const absl::StatusOr<lease::Grant>& grant, std::chrono::steady_clock::time_point begun,
            v1::ReserveIntervalResponse* response);
  void Count(const absl::Status& status);

  store::Store& store_;
  Metrics& metrics_;
  WaitingLine& line_;
  const LeaseSettings& settings_;
  prometheus::Counter& granted_;  // held: a look-up by labels costs more than a grant's rest
};

}  // namespace interlock::server
