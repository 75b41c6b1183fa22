// Sees every call: counts it by method and code, writes a line for those that change
// something or fail, and gives the methods that are not built yet their reason.
#pragma once

#include <memory>
#include <vector>

#include "grpcpp/support/server_interceptor.h"
#include "server/metrics.h"

namespace interlock::server {

// `metrics` must outlive the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> ObserveCalls(
    Metrics& metrics);

}  // namespace interlock::server
