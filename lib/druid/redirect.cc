#include "lib/druid/redirect.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace interlock::druid {
namespace {

// A pattern as it stands in the configuration for exactly this origin.
std::string PatternOf(const std::string& origin) {
  std::string pattern;
  for (const char c : origin) {
    if (c == '.' || c == '[' || c == ']') pattern.push_back('\\');
    pattern.push_back(c);
  }
  return pattern;
}

}  // namespace

RedirectPolicy::RedirectPolicy(const ClusterOptions& options) {
  for (const auto* addresses :
       {&options.router, &options.coordinator, &options.overlord, &options.broker}) {
    for (const std::string& address : *addresses) {
      const std::optional<Url> url = ParseUrl(address);
      if (url.has_value()) configured_.insert(url->origin);
    }
  }
  for (const std::string& pattern : options.redirect_patterns) {
    try {
      patterns_.emplace_back(pattern, std::regex::ECMAScript | std::regex::icase);
    } catch (const std::regex_error&) {
      // ValidateClusterOptions names it; here it allows nothing.
      continue;
    }
  }
}

bool RedirectPolicy::Trusts(const Url& target) const {
  if (configured_.count(target.origin) != 0) return true;
  for (const std::regex& pattern : patterns_) {
    if (std::regex_match(target.origin, pattern)) return true;
  }
  return false;
}

bool RedirectPolicy::IsNamedLeader(const std::string& service, const Url& from,
                                   const Url& target) const {
  if (from.https && !target.https) return false;
  const MutexLock lock(mutex_);
  const auto leader = leaders_.find(service);
  return leader != leaders_.end() && leader->second == target.origin;
}

void RedirectPolicy::NoteLeader(const std::string& service, const std::string& origin) {
  const MutexLock lock(mutex_);
  leaders_[service] = origin;
}

std::string RedirectPolicy::Refusal(const Url& target) {
  return absl::StrCat("redirected to ", target.origin,
                      ", which is neither configured nor named by the cluster's /leader; to allow "
                      "it, add to the druid section: redirect_pattern: \"",
                      PatternOf(target.origin), "\"");
}

}  // namespace interlock::druid
