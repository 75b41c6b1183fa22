// The stable reason of an error, carried beside its text.
//
// Scripts, metrics and retry rules key on an UPPER_SNAKE reason; the text is for
// people and may change. It travels as a payload of absl::Status, so that it passes
// unharmed through layers that know nothing of it, and the one place that makes gRPC
// statuses reads it. Here because every other layer stands on this one.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interlock {

// `status` with `reason` attached (one already there is replaced). OK stays OK.
absl::Status WithReason(absl::Status status, absl::string_view reason);

// The reason, or an empty string where none was attached.
std::string ReasonOf(const absl::Status& status);

}  // namespace interlock
