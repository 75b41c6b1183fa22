// What Druid shows of a sealed interval: which segments, and what is in them.
//
// Two digests. Ids: the visible segments, byte for byte; compaction changes it. Content:
// per partition the number of rows and the sum of each column that adds up, and the
// snapshot where there is one; compaction leaves it as it is. (A value that moves from one
// dimension to another within a partition shows only in a snapshot by that dimension.)
//
// Threads: any; each function asks Druid and blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/druid/cluster.h"
#include "lib/seal/seal.h"

namespace interlock::seal {

// Partitions whose figures are kept apart; of more, neighbours are taken together.
inline constexpr size_t kMostBuckets = 400;
// Groups of a snapshot, over all of its partitions.
inline constexpr int64_t kMostGroups = 100'000;

// The visible segments.
struct Layout {
  std::string ids_digest;
  std::vector<Interval> buckets;
  std::vector<std::string> metrics;
  bool any_visible = false;
  bool any_rows = false;  // something else than tombstones
};
// DRUID_UNAVAILABLE, MISALIGNED, NOT_SINGLE_VERSION.
absl::StatusOr<Layout> ReadLayout(druid::Cluster& cluster, const std::string& datasource,
                                  const Interval& interval);

struct Figures {
  std::vector<Bucket> buckets;
  std::vector<Group> totals;  // the snapshot of the whole interval
  std::string content_digest;
};
// DRUID_UNAVAILABLE, INVALID_SNAPSHOT (Druid refuses the query), SNAPSHOT_TOO_LARGE.
absl::StatusOr<Figures> ReadFigures(druid::Cluster& cluster, const std::string& datasource,
                                    const Interval& interval, const Layout& layout,
                                    const SnapshotSpec& spec);

// The snapshot of one interval; none where the datasource has no rows there.
absl::StatusOr<std::vector<Group>> ReadSnapshot(druid::Cluster& cluster,
                                                const std::string& datasource,
                                                const Interval& interval, const SnapshotSpec& spec);
// Rows and sums of one interval; `metrics` that can't be summed are left out.
absl::StatusOr<std::vector<Value>> ReadSums(druid::Cluster& cluster, const std::string& datasource,
                                            const Interval& interval,
                                            const std::vector<std::string>& metrics);

// Equal where each has the same type's value, doubles within 1e-9 of the larger.
bool SameValue(const Value& a, const Value& b);
// Content compared: sums and snapshot. The number of stored rows counts only where no
// column adds up, since roll-up by compaction changes it.
bool SameContent(const Bucket& a, const Bucket& b);
std::string ContentDigest(const std::vector<Bucket>& buckets);

}  // namespace interlock::seal
