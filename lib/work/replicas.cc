#include "lib/work/replicas.h"

namespace interlock::work {

absl::Status NoteReplica(store::Transaction& tx, const std::string& name,
                         const std::string& version) {
  absl::Status noted =
      tx.Execute(
            "INSERT INTO work_replica (name, version, seen_ms) VALUES (:name, :version, :now)"
            " ON CONFLICT (name) DO UPDATE SET version = excluded.version,"
            " seen_ms = excluded.seen_ms",
            {name, version, tx.now()})
          .status();
  if (!noted.ok()) return noted;
  return tx
      .Execute("DELETE FROM work_replica WHERE seen_ms < :since", {tx.now() - kReplicaForgotten})
      .status();
}

absl::StatusOr<std::vector<Replica>> ListReplicas(store::Transaction& tx) {
  const auto rows = tx.Query("SELECT name, version, seen_ms FROM work_replica ORDER BY name", {});
  if (!rows.ok()) return rows.status();
  std::vector<Replica> replicas;
  for (const store::Row& row : *rows) {
    if (row.At(2) < tx.now() - kReplicaForgotten) continue;
    replicas.push_back({row.Text(0), row.Text(1), row.At(2)});
  }
  return replicas;
}

}  // namespace interlock::work
