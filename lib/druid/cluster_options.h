// Where a cluster is and how it may be spoken to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace interlock::druid {

enum class Access {
  kObserve,  // no request that changes anything is ever sent
  kManage,
};

struct ClusterOptions {
  // Base URLs with an optional base path ("http://host:8888/druid-a"). With `router`,
  // the others may be empty: everything goes through it. Several per service are tried
  // in turn.
  std::vector<std::string> router;
  std::vector<std::string> coordinator;
  std::vector<std::string> overlord;
  std::vector<std::string> broker;
  // Beyond the addresses above and what /leader names: hosts that a redirect may lead
  // to, as scheme://host:port with `*` for any characters but `/`.
  std::vector<std::string> redirect_patterns;

  Access access = Access::kObserve;
  std::string basic_user;
  std::string basic_password;  // read from a file by the caller; never logged
  std::string ca_file;

  std::chrono::milliseconds call_deadline{30'000};
  std::chrono::milliseconds connect_deadline{5'000};
  int64_t max_reply_bytes = int64_t{1} << 30;
  // Of calls that are safe to repeat, all within call_deadline, with jittered pauses.
  int read_attempts = 3;
  uint64_t jitter_seed = 0;  // 0: from the machine's random device

  // Told of every exchange, for metrics: endpoint ("task_submit"), result ("done",
  // "refused", "not_found", "unknown"), seconds. May be empty.
  std::function<void(const std::string& endpoint, const std::string& result, double seconds)>
      on_exchange;
};

// Every fault of the options at once, one Fault each (status_reason.h): addresses that
// are no http(s) URL or carry a user, a query or a fragment, patterns that do not
// compile, a user with a colon in it, no address at all. INVALID_ARGUMENT,
// DRUID_OPTIONS_INVALID. Cluster assumes that this said OK.
absl::Status ValidateClusterOptions(const ClusterOptions& options);

}  // namespace interlock::druid
