// Messages that people keep in files, as JSON.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace interlock::cli {

// Reads `json` into the message at `field` of `request`. Proto3 JSON with the proto's own
// field names; for people's sake a `spec` may stand in it as the object that it is instead
// of as a text, and durations may be written `72h`. INVALID_ARGUMENT (JSON_MALFORMED).
absl::Status ReadJson(const std::string& json, google::protobuf::Message& request,
                      const std::string& field);

}  // namespace interlock::cli
