#include "client/cli/lease_flags.h"

namespace interlock::cli {

absl::Status CheckLease(const Arguments& arguments) {
  if (arguments.Given("reservation") != arguments.Given("fencing-token")) {
    return UsageError("--reservation and --fencing-token go together");
  }
  if (arguments.Has("reservation") != arguments.Has("fencing-token")) {
    return UsageError("INTERLOCK_RESERVATION and INTERLOCK_FENCING_TOKEN go together");
  }
  return absl::OkStatus();
}

}  // namespace interlock::cli
