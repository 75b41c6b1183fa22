// An error as one line on stderr.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace interlock::cli {

// `REASON: what is wrong; each fault with its place; each holder; when to try again`.
// Without line breaks and control characters whatever the server sent; `address` is named where it
// does not answer. A fault or holder that the message tells already is not told twice.
std::string ErrorLine(const absl::Status& status, const std::string& address);

}  // namespace interlock::cli
