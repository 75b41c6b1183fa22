// The gRPC port: credentials, limits, health and reflection around the services.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "grpcpp/server.h"
#include "interlock/config/v1/config.pb.h"
#include "server/metrics.h"

namespace interlock::server {

class GrpcListener {
 public:
  // `services` and `metrics` must outlive the listener.
  static absl::StatusOr<std::unique_ptr<GrpcListener>> Start(
      const config::v1::ServerConfig& config, const std::vector<grpc::Service*>& services,
      Metrics& metrics);

  // What health.Check says of the whole server ("") and of `service`.
  void SetServing(const std::string& service, bool serving);
  void Drain(std::chrono::milliseconds longest);
  int port() const { return port_; }

 private:
  GrpcListener() = default;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace interlock::server
