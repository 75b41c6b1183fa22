// The reservation that a verb acts under.
#pragma once

#include "absl/status/status.h"
#include "client/cli/arguments.h"

namespace interlock::cli {

// A reservation and its token go together, and both come from the command line or both
// from the variables: a token of another lease would only be refused as stale.
absl::Status CheckLease(const Arguments& arguments);

}  // namespace interlock::cli
