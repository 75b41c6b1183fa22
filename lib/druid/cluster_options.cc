#include "lib/druid/cluster_options.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/url.h"
#include "lib/time/status_reason.h"
#include "re2/re2.h"

namespace interlock::druid {
namespace {

absl::Status OptionsInvalid() {
  return WithReason(absl::InvalidArgumentError("the options of the Druid cluster are not usable"),
                    "DRUID_OPTIONS_INVALID");
}

void CheckAddresses(const char* service, const std::vector<std::string>& addresses,
                    absl::Status& faults) {
  for (size_t i = 0; i < addresses.size(); ++i) {
    const std::optional<Url> url = ParseUrl(addresses[i]);
    if (url.has_value() && !absl::StrContains(url->path, "?") &&
        !absl::StrContains(addresses[i], "#")) {
      continue;
    }
    // Not the address itself: a password may stand in it.
    AddFault(faults, absl::StrCat("/", service, "/", i),
             "no http or https URL without user, query and fragment",
             "http://HOST:PORT, with a base path where there is one");
  }
}

void CheckPatterns(const std::vector<std::string>& patterns, absl::Status& faults) {
  for (size_t i = 0; i < patterns.size(); ++i) {
    static const RE2 kOrigin(R"(https?://[^/\s]+)");
    if (RE2::FullMatch(patterns[i], kOrigin)) continue;
    AddFault(faults, absl::StrCat("/redirect_patterns/", i), "no scheme://host:port",
             "such as http://druid-*.internal:8081, where * stands for any characters but /");
  }
}

}  // namespace

absl::Status ValidateClusterOptions(const ClusterOptions& options) {
  absl::Status faults = OptionsInvalid();
  CheckAddresses("router", options.router, faults);
  CheckAddresses("coordinator", options.coordinator, faults);
  CheckAddresses("overlord", options.overlord, faults);
  CheckAddresses("broker", options.broker, faults);
  CheckPatterns(options.redirect_patterns, faults);
  if (absl::StrContains(options.basic_user, ":")) {
    AddFault(faults, "/basic_user", "a colon, which Basic authentication can't carry",
             "a user without one");
  }
  const bool routed = !options.router.empty();
  if (!routed &&
      (options.coordinator.empty() || options.overlord.empty() || options.broker.empty())) {
    AddFault(faults, "", "no router, and not all of coordinator, overlord and broker",
             "a router, or an address for each of the three");
  }
  return FaultsOf(faults).empty() ? absl::OkStatus() : faults;
}

}  // namespace interlock::druid
