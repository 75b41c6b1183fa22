#include "lib/lease/counts.h"

namespace interlock::lease {
namespace {

absl::Status Add(store::Transaction& tx, const char* sql, const std::vector<store::Value>& values,
                 const char* state, std::vector<ReservationCount>& counts) {
  auto rows = tx.Query(sql, values);
  if (!rows.ok()) return rows.status();
  for (const auto& row : *rows) counts.push_back({row.Text(0), row.Text(1), state, row.Int(2)});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ReservationCount>> CountBlocking(store::Transaction& tx) {
  std::vector<ReservationCount> counts;
  auto status = Add(tx,
                    "SELECT d.name, r.mode, COUNT(*) FROM lease_reservation r"
                    " JOIN lease_datasource d ON d.number = r.datasource"
                    " WHERE r.live = 1 AND r.deadline_ms > :now GROUP BY d.name, r.mode",
                    {tx.now()}, "ACTIVE", counts);
  if (!status.ok()) return status;
  status = Add(tx,
               "SELECT d.name, r.mode, COUNT(*) FROM lease_reservation r"
               " JOIN lease_datasource d ON d.number = r.datasource"
               " WHERE (r.live = 0 OR r.deadline_ms <= :now) AND EXISTS"
               " (SELECT 1 FROM lease_pin p WHERE p.datasource = r.datasource"
               " AND p.token = r.token) GROUP BY d.name, r.mode",
               {tx.now()}, "ORPHANED", counts);
  if (!status.ok()) return status;
  status = Add(tx,
               "SELECT d.name, w.mode, COUNT(*) FROM lease_waiter w"
               " JOIN lease_datasource d ON d.number = w.datasource"
               " WHERE w.alive_until_ms > :now GROUP BY d.name, w.mode",
               {tx.now()}, "WAITING", counts);
  if (!status.ok()) return status;
  return counts;
}

absl::StatusOr<std::vector<NearExpiry>> CountNearExpiry(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT d.name, COUNT(*) FROM lease_reservation r"
      " JOIN lease_datasource d ON d.number = r.datasource"
      " WHERE r.live = 1 AND r.state = 'ACTIVE' AND r.deadline_ms > :now"
      " AND (r.deadline_ms - :now) * 4 < r.ttl_ms GROUP BY d.name",
      {tx.now(), tx.now()});
  if (!rows.ok()) return rows.status();
  std::vector<NearExpiry> counts;
  for (const auto& row : *rows) counts.push_back({row.Text(0), row.Int(1)});
  return counts;
}

}  // namespace interlock::lease
