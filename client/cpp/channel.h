// How a channel to interlockd is made.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "client/cpp/connection.h"

namespace interlock::client {

// A plan of 10,000 partitions is several megabytes (plan.proto).
inline constexpr int kMaxReplyBytes = 64 << 20;

// Errors as Connection::Open.
absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const ConnectionOptions& options);

}  // namespace interlock::client
