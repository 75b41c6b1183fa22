// Requests that are no message: bytes that are not UTF-8 where a text should be, or bytes
// of something else. gRPC itself answers them as if there were no such method.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace interlock::server {

// Takes over Protobuf's own log: what it says of a request that this thread has failed to
// read is kept for MalformedRequest, all else goes to our log. Once, before any call.
void TakeOverProtobufLog();

// INVALID_ARGUMENT for the request of `method` that this thread has just failed to read:
// NOT_UTF8, naming the field, or REQUEST_MALFORMED.
absl::Status MalformedRequest(const std::string& method);

}  // namespace interlock::server
