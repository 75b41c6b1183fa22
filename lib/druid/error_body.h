// What Druid says in the body of an error: DruidException's object (error code and
// message), the older {"error": text}, plain text, or a page of HTML.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "lib/druid/transport.h"

namespace interlock::druid {

struct ErrorBody {
  std::string code;  // "entryAlreadyExists"; "" where there is none
  std::string text;  // one line for people, shortened
  // A task status reply of a task that is not there: {"task": ID, "status": null}.
  std::string task;
  bool has_null_status = false;
};

ErrorBody ReadErrorBody(const HttpReply& reply);

// On one line, control characters blanked, cut where it gets long.
std::string Shortened(absl::string_view text);

}  // namespace interlock::druid
