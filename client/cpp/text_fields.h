// Texts of a request that no server could read.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}

namespace interlock::client {

// INVALID_ARGUMENT, NOT_UTF8, naming the first field whose text is not UTF-8: gRPC would
// carry it all the same, and the server could read nothing of the request.
absl::Status CheckTexts(const google::protobuf::Message& request);

// As the Unicode standard has it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsUtf8(absl::string_view text);

}  // namespace interlock::client
