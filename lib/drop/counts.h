// How many drops stand where, and what their kills left behind, for metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::drop {

struct DropCount {
  std::string datasource;
  std::string state;
  int64_t count = 0;
};

// Any transaction.
absl::StatusOr<std::vector<DropCount>> CountDrops(store::Transaction& tx);

// Segments whose metadata rows are gone and whose files were there when last looked for;
// a datasource whose files were all removed since stays listed, with 0.
struct OrphanCount {
  std::string datasource;
  int64_t count = 0;
};
absl::StatusOr<std::vector<OrphanCount>> CountOrphanSegments(store::Transaction& tx);

// Kill tasks that failed, over all time; those that people cancelled apart.
struct KillFailureCount {
  std::string datasource;
  std::string reason;
  int64_t count = 0;
};
absl::StatusOr<std::vector<KillFailureCount>> CountKillFailures(store::Transaction& tx);

// The oldest kill task of each datasource that has not ended yet.
struct OpenKill {
  std::string datasource;
  Instant stored;
};
absl::StatusOr<std::vector<OpenKill>> OldestOpenKills(store::Transaction& tx);

}  // namespace interlock::drop
