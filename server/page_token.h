// Page tokens of lists: a place in the list's order, and a mark of what was asked.
//
// With another filter the same place is another one, so that rows would be left out without a
// word; and the tokens of two lists look alike. The mark is the same on every server and after
// every restart; it is no secret.
//
// Threads: functions of their arguments.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace interlock::server {

// The place that `request`'s page_token stands for; "" where it has none.
// INVALID_ARGUMENT, BAD_PAGE_TOKEN: it is no token of this list, with these other fields.
absl::StatusOr<std::string> PagePlace(const google::protobuf::Message& request);

// The token of the page that starts at `place`; "" where there is no such page.
std::string PageToken(const google::protobuf::Message& request, const std::string& place);

}  // namespace interlock::server
