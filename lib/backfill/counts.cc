#include "lib/backfill/counts.h"

namespace interlock::backfill {

absl::StatusOr<std::vector<PartitionCount>> CountPartitionsAtWork(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT b.datasource, p.state, COUNT(*) FROM backfill b"
      " JOIN backfill_partition p ON p.backfill_id = b.id"
      " WHERE b.ended_ms IS NULL GROUP BY b.datasource, p.state",
      {});
  if (!rows.ok()) return rows.status();
  std::vector<PartitionCount> counts;
  for (const auto& row : *rows) counts.push_back({row.Text(0), row.Text(1), row.Int(2)});
  return counts;
}

}  // namespace interlock::backfill
