// The one counter of changes to backfills, by which a watch resumes without a gap.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "lib/store/store.h"

namespace interlock::backfill {

// The next number, rising in the order of commits.
absl::StatusOr<int64_t> NextRevision(store::Transaction& tx);

}  // namespace interlock::backfill
