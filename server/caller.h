// Who calls: from the client's certificate where there is one, else, on loopback, the name
// that the caller states in the metadata `interlock-caller`.
#pragma once

#include <string>

#include "grpcpp/server_context.h"
#include "lib/audit/caller.h"

namespace interlock::server {

inline constexpr char kCallerKey[] = "interlock-caller";

// "cert/CN", or "loopback/NAME"; "loopback/anonymous" where nothing is stated. What does not
// print, '/' and '%' are written as in a URL, so that no two callers share an identity, and
// none can be another with a name below it (HolderOf). Cut to what a log line bears: 128
// characters.
std::string IdentityOf(const grpc::ServerContextBase& context);

// For a call that changes something.
audit::Caller CallerOf(const grpc::ServerContextBase& context, const std::string& request_id,
                       const std::string& reason);

// A holder is an identity with an optional name of the caller's below it.
std::string HolderOf(const std::string& identity, const std::string& name);

}  // namespace interlock::server
