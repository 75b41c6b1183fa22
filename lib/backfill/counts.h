// How many partitions of backfills stand where, for metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/store.h"

namespace interlock::backfill {

struct PartitionCount {
  std::string datasource;
  std::string state;
  int64_t count = 0;
};

// Of backfills that are not over: what is, or may be, at work. Any transaction.
absl::StatusOr<std::vector<PartitionCount>> CountPartitionsAtWork(store::Transaction& tx);

}  // namespace interlock::backfill
