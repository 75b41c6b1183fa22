// Addresses of HTTP services: taken apart, put together, compared by origin. Parsing is
// libcurl's, so that what is checked here is what it then connects to.
//
// Threads: functions without state.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace interlock::druid {

struct Url {
  // scheme://host:port in lower case, the port spelled out: equal text is the same
  // origin.
  std::string origin;
  std::string path;  // with its query; "/" at least
  bool https = false;
};

// nullopt for what is no absolute http or https URL, and for one with a user in it:
// credentials in addresses end up in logs.
std::optional<Url> ParseUrl(const std::string& text);

// Where `location`, absolute or relative, leads from `from`; nullopt where nowhere.
std::optional<std::string> ResolveUrl(const std::string& from, const std::string& location);

// One path segment or query value: all but unreserved characters percent-encoded.
std::string EscapeUrl(absl::string_view text);

}  // namespace interlock::druid
