// An error as one line on stderr.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace interlock::cli {

// What is known of a call that was not answered: it changes nothing, it carries a request id,
// or it may have been done and may not be sent again blindly.
enum class Repeat { kAsItIs, kSafely, kBlindly };

// `REASON: what is wrong; each fault with its place; each holder; when to try again`.
// Without line breaks and control characters whatever the server sent; `address` is named where it
// does not answer. A fault or holder that the message tells already is not told twice.
std::string ErrorLine(const absl::Status& status, const std::string& address,
                      Repeat repeat = Repeat::kAsItIs);

}  // namespace interlock::cli
