// How many drops stand where, and what their kills left behind, for metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/store.h"

namespace interlock::drop {

struct DropCount {
  std::string datasource;
  std::string state;
  int64_t count = 0;
};

// Any transaction.
absl::StatusOr<std::vector<DropCount>> CountDrops(store::Transaction& tx);

}  // namespace interlock::drop
