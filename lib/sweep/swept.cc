#include "lib/sweep/swept.h"

namespace interlock::sweep {

absl::StatusOr<bool> AddDatasource(store::Transaction& tx, const std::string& name, bool streamed) {
  auto added = tx.Execute(
      "INSERT INTO sweep_datasource (name, found_ms, streamed, segments, unavailable)"
      " VALUES (:name, :now, :streamed, 0, 0) ON CONFLICT (name) DO NOTHING",
      {name, tx.now(), streamed});
  if (!added.ok()) return added.status();
  if (*added == 1) return true;
  auto updated = tx.Execute(
      "UPDATE sweep_datasource SET streamed = :streamed WHERE name = :name AND streamed <> :was",
      {streamed, name, streamed});
  if (!updated.ok()) return updated.status();
  return false;
}

absl::Status RemoveDatasource(store::Transaction& tx, const std::string& name) {
  return tx.Execute("DELETE FROM sweep_datasource WHERE name = :name", {name}).status();
}

absl::Status NoteSwept(store::Transaction& tx, const std::string& name, int64_t segments,
                       int64_t unavailable) {
  return tx
      .Execute(
          "UPDATE sweep_datasource SET swept_ms = :now, segments = :segments,"
          " unavailable = :unavailable WHERE name = :name",
          {tx.now(), segments, unavailable, name})
      .status();
}

absl::StatusOr<std::vector<Swept>> ListSwept(store::Transaction& tx, const std::string& name) {
  auto rows = tx.Query(
      "SELECT name, found_ms, swept_ms, streamed, segments, unavailable FROM sweep_datasource"
      " WHERE :all = 1 OR name = :name ORDER BY name",
      {name.empty(), name});
  if (!rows.ok()) return rows.status();
  std::vector<Swept> swept;
  for (const store::Row& row : *rows) {
    swept.push_back({row.Text(0), row.At(1), row.MaybeAt(2), row.Flag(3), row.Int(4), row.Int(5)});
  }
  return swept;
}

}  // namespace interlock::sweep
