#include "lib/work/work_errors.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::work {

absl::Status ClaimLost(absl::string_view kind, absl::string_view key) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("the claim on step ", kind, "/", key,
                                                 " has ended: another worker may have it")),
      "CLAIM_LOST", {{"kind", std::string(kind)}, {"key", std::string(key)}});
}

absl::Status NoHandler(absl::string_view kind) {
  return WithReason(absl::InternalError(absl::StrCat("nobody does steps of kind ", kind)),
                    "NO_HANDLER", {{"kind", std::string(kind)}});
}

}  // namespace interlock::work
