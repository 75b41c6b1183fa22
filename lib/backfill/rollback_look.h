// What a rollback of one partition would do, and what speaks against it: told from what
// Druid shows now and what was written down when the backfill ran.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/backfill/record.h"
#include "lib/backfill/rollback.h"
#include "lib/druid/cluster.h"
#include "lib/druid/timeline.h"

namespace interlock::backfill {

// Segments of the rollback's partition as Druid shows them now.
struct RollbackSight {
  std::vector<std::string> visible;  // ids, in order
  std::string versions;              // that are visible
  std::vector<std::string> going;    // used segments of the version that goes
  std::vector<std::string> foreign;  // of those: what the proof does not name
  std::vector<std::string> missing;  // old ones that are not used
};
RollbackSight SightOf(const druid::Timeline& timeline, const Rollback& rollback);

// NOT_NEWEST_GENERATION, FOREIGN_ROWS.
absl::Status CheckSight(const RollbackSight& sight, const Rollback& rollback);

// Whether each of `ids` is still in Druid's metadata as unused: OLD_GENERATION_KILLED,
// DRUID_UNAVAILABLE. A Druid that has no such list (28 and before) tells by the revival.
absl::Status CheckStillThere(druid::Cluster& cluster, const std::string& datasource,
                             const Rollback& rollback, const std::vector<std::string>& ids);

}  // namespace interlock::backfill
