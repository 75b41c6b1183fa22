#include "lib/druid/redirect.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace interlock::druid {
namespace {

// `*` stands for any characters but `/`, as the configuration has it.
std::unique_ptr<RE2> Compile(const std::string& pattern) {
  std::vector<std::string> texts;
  for (const absl::string_view text : absl::StrSplit(pattern, '*')) {
    texts.push_back(RE2::QuoteMeta({text.data(), text.size()}));
  }
  RE2::Options options;
  options.set_case_sensitive(false);
  return std::make_unique<RE2>(absl::StrJoin(texts, "[^/]*"), options);
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
    patterns_.push_back(Compile(pattern));
  }
}

bool RedirectPolicy::Trusts(const Url& target) const {
  if (configured_.count(target.origin) != 0) return true;
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const auto& pattern) { return RE2::FullMatch(target.origin, *pattern); });
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
                      "it, add to the druid section: redirect_patterns: \"",
                      target.origin, "\"");
}

}  // namespace interlock::druid
