// What was proven last of each partition, for displays.
//
// Threads: functions on a transaction, of any kind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/store.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

struct Done {
  Interval partition;
  std::string version;  // "" where it left nothing
  std::string backfill_id;
};

// The latest partitions of a datasource, latest first.
absl::StatusOr<std::vector<Done>> ListDone(store::Transaction& tx, const std::string& datasource,
                                           int64_t most);

// Of which anything was proven.
absl::StatusOr<std::vector<std::string>> DatasourcesDone(store::Transaction& tx);

}  // namespace interlock::backfill
