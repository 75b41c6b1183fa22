// Redirects, followed by hand: method, body and Authorization are sent again, so only to
// an address that is configured, that the cluster's own /leader names, or that matches a
// configured pattern. A cluster whose network was taken over could otherwise lead our
// credentials, and our tasks, anywhere.
//
// Threads: any.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/druid/cluster_options.h"
#include "lib/druid/url.h"
#include "lib/time/mutex.h"
#include "re2/re2.h"

namespace interlock::druid {

class RedirectPolicy {
 public:
  // Druid redirects once, from a standby to its leader; twice while that changes.
  static constexpr int kMaxHops = 3;

  explicit RedirectPolicy(const ClusterOptions& options);

  // By configuration alone. From https to plain http only where that is configured.
  bool Trusts(const Url& target) const;
  // What /leader named, as far as it was asked; the newest one per service counts.
  bool IsNamedLeader(const std::string& service, const Url& from, const Url& target) const;
  void NoteLeader(const std::string& service, const std::string& origin);

  // Says what was refused and the line of the configuration that would allow it.
  static std::string Refusal(const Url& target);

 private:
  std::set<std::string> configured_;  // origins
  std::vector<std::unique_ptr<RE2>> patterns_;

  mutable Mutex mutex_;
  std::map<std::string, std::string> leaders_ INTERLOCK_GUARDED_BY(mutex_);  // service → origin
};

}  // namespace interlock::druid
