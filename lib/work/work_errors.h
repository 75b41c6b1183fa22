// The errors of lib/work.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interlock::work {

// FAILED_PRECONDITION, CLAIM_LOST: the step is another worker's, or is no more.
absl::Status ClaimLost(absl::string_view kind, absl::string_view key);
// INTERNAL, NO_HANDLER: a step of a kind that nobody does.
absl::Status NoHandler(absl::string_view kind);

}  // namespace interlock::work
