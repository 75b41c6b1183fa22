#include "lib/drop/counts.h"

#include "lib/drop/kill.h"

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

absl::StatusOr<std::vector<KillFailureCount>> CountKillFailures(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT d.datasource, k.failure, COUNT(*) FROM drop_kill k JOIN drops d ON d.id = k.drop_id"
      " WHERE k.failure <> '' AND k.failure <> :cancelled GROUP BY d.datasource, k.failure",
      {kKillCancelled});
  if (!rows.ok()) return rows.status();
  std::vector<KillFailureCount> counts;
  for (const auto& row : *rows) counts.push_back({row.Text(0), row.Text(1), row.Int(2)});
  return counts;
}

absl::StatusOr<std::vector<OpenKill>> OldestOpenKills(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT d.datasource, MIN(k.stored_ms) FROM drop_kill k JOIN drops d ON d.id = k.drop_id"
      " WHERE k.post <> 'ENDED' GROUP BY d.datasource",
      {});
  if (!rows.ok()) return rows.status();
  std::vector<OpenKill> open;
  for (const auto& row : *rows) open.push_back({row.Text(0), row.At(1)});
  return open;
}

}  // namespace interlock::drop
