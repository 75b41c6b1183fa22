// From the wire's errors to ours: the other half of server/status_conversion.h.
#pragma once

#include "absl/status/status.h"

namespace grpc {
class Status;
}

namespace interlock::client {

// Code, message, and of the details what lib/time/status_reason.h reads. A BadRequest's
// description comes back as Fault::found, with what would do behind its semicolon.
// Details that can't be read leave code and message as they are.
absl::Status FromGrpc(const grpc::Status& status);

// True where the server's word ends the lease that a call acted under: it expired, was
// released, superseded, forced, or is not the caller's. An unreachable server is not that
// (case 123): the lease may well live, and the own deadline decides.
bool EndsLease(const absl::Status& status);

}  // namespace interlock::client
