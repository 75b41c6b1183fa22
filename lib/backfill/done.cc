#include "lib/backfill/done.h"

namespace interlock::backfill {

absl::StatusOr<std::vector<Done>> ListDone(store::Transaction& tx, const std::string& datasource,
                                           int64_t most) {
  auto rows = tx.Query(
      "SELECT start_ms, end_ms, version, backfill_id FROM backfill_done"
      " WHERE datasource = :datasource ORDER BY start_ms DESC, end_ms DESC LIMIT :most",
      {datasource, most});
  if (!rows.ok()) return rows.status();
  std::vector<Done> all;
  for (const store::Row& row : *rows) {
    auto partition = Interval::Of(row.At(0), row.At(1));
    if (partition.ok()) all.push_back({*partition, row.Text(2), row.Text(3)});
  }
  return all;
}

absl::StatusOr<std::vector<std::string>> DatasourcesDone(store::Transaction& tx) {
  auto rows = tx.Query("SELECT DISTINCT datasource FROM backfill_done", {});
  if (!rows.ok()) return rows.status();
  std::vector<std::string> names;
  for (const store::Row& row : *rows) names.push_back(row.Text(0));
  return names;
}

}  // namespace interlock::backfill
