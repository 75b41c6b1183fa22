// The Server service: how this server is, and what it finds when it looks at Druid.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "interlock/config/v1/config.pb.h"
#include "interlock/v1/server.grpc.pb.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "server/doctor.h"
#include "server/executor.h"
#include "server/lease_settings.h"

namespace interlock::server {

// How this process does.
struct ProcessState {
  absl::Status ready;  // OK, or why nothing can be granted
  bool draining = false;
  std::optional<std::chrono::nanoseconds> last_commit;  // how long it took
};

class ServerService final : public v1::Server::CallbackService {
 public:
  // All must outlive the service.
  ServerService(const config::v1::ServerConfig& config, const LeaseSettings& settings,
                store::Store& store, druid::Cluster& cluster, Doctor& doctor, Executor& executor,
                std::function<ProcessState()> state);

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;
  grpc::ServerUnaryReactor* Diagnose(grpc::CallbackServerContext* context,
                                     const v1::DiagnoseRequest* request,
                                     v1::DiagnoseResponse* response) override;
  grpc::ServerUnaryReactor* TestPolicy(grpc::CallbackServerContext* context,
                                       const v1::TestPolicyRequest* request,
                                       v1::TestPolicyResponse* response) override;

 private:
  void AddDruid(v1::GetStatusResponse& response);

  const config::v1::ServerConfig& config_;
  const LeaseSettings& settings_;
  store::Store& store_;
  druid::Cluster& cluster_;
  Doctor& doctor_;
  Executor& executor_;
  const std::function<ProcessState()> state_;
  const Instant started_;
};

}  // namespace interlock::server
