// Fills a request's fields from words of a command line.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "lib/time/instant.h"

namespace google::protobuf {
class Message;
}

namespace interlock::cli {

// Sets the field at `path` (`expect.rows`) as its type reads `text`: numbers, durations
// (`10m`, `P2D`), instants (as Druid takes them, or `2h` for two hours before `now`),
// enums by their names in any case (`replace`), map entries as `key=value`. A repeated
// field gets one element more. INVALID_ARGUMENT (USAGE) says what is wrong and what would do.
absl::Status SetField(google::protobuf::Message& message, const std::string& path,
                      const std::string& text, Instant now);

}  // namespace interlock::cli
