// The one place where an absl::Status becomes a gRPC status with details.
#pragma once

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace interlock::server {

// The domain of every ErrorInfo that Interlock sends.
inline constexpr char kErrorDomain[] = "interlock.druid";

// Code and text as they are; reason and metadata as google.rpc.ErrorInfo, faults as
// BadRequest, blockers as PreconditionFailure, a delay as RetryInfo. A status without a
// reason gets its code's name, so that a program always finds one.
grpc::Status ToGrpc(const absl::Status& status);

// UNIMPLEMENTED with the reason NOT_YET_BUILT, for a method of the surface that a later
// version fills in.
grpc::Status NotYetBuilt(const std::string& method);

// UNAVAILABLE, SERVER_DRAINING: to a call that waits while the server ends. `what_would_do`
// is for people: "watch again".
absl::Status Draining(const std::string& what_would_do);

}  // namespace interlock::server
