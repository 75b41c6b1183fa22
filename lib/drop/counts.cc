#include "lib/drop/counts.h"

namespace interlock::drop {

absl::StatusOr<std::vector<DropCount>> CountDrops(store::Transaction& tx) {
  auto rows =
      tx.Query("SELECT datasource, state, COUNT(*) FROM drops GROUP BY datasource, state", {});
  if (!rows.ok()) return rows.status();
  std::vector<DropCount> counts;
  for (const auto& row : *rows) counts.push_back({row.Text(0), row.Text(1), row.Int(2)});
  return counts;
}

absl::StatusOr<std::vector<OrphanCount>> CountOrphanSegments(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT datasource, CAST(SUM(orphans) AS BIGINT) FROM drops GROUP BY datasource", {});
  if (!rows.ok()) return rows.status();
  std::vector<OrphanCount> counts;
  for (const auto& row : *rows) counts.push_back({row.Text(0), row.Int(1)});
  return counts;
}

}  // namespace interlock::drop
