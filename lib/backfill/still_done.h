// Whether a partition still shows what equal work left there, and nothing beside it.
//
// The version alone does not tell: what is appended later stands under the same version, and
// its rows count beside those that were proven.
//
// Threads: functions on a transaction, and on what it gave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/backfill/rows.h"
#include "lib/druid/timeline.h"
#include "lib/store/store.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// What was done there last, with what its proof still says (proofs are kept for a while).
struct ProvenBefore {
  DoneBefore done;
  std::vector<std::string> segment_ids;  // all that was seen then; empty where nobody knows
  std::optional<int64_t> rows;           // raw ones
};

// Nothing where nothing was done, or other work.
absl::StatusOr<std::optional<ProvenBefore>> FindProven(store::Transaction& tx,
                                                       const std::string& datasource,
                                                       const Interval& partition,
                                                       const std::string& digest);

// The same version, and the segments that were there when it was proven, no more and no fewer.
// Where the proof is gone: none that was appended to what was replaced.
bool StillShows(const ProvenBefore& before, const druid::Timeline& timeline,
                const Interval& partition);

}  // namespace interlock::backfill
