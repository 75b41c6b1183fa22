#include "lib/lease/live_counts.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/overlaps.h"

namespace interlock::lease {
namespace {

// Expired ones that one refusal writes down, so that the bound is true again.
constexpr int64_t kMostCleared = 1000;

absl::StatusOr<int64_t> BoundOf(store::Transaction& tx, int64_t datasource,
                                const std::string& whom) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT live_count FROM lease_holder WHERE datasource = :datasource"
      " AND holder = :holder",
      {datasource, whom});
  if (!rows.ok()) return rows.status();
  return rows->empty() ? 0 : rows->front().Int(0);
}

absl::Status ClearAll(store::Transaction& tx, int64_t datasource,
                      const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  for (const store::Row& row : *rows) {
    absl::Status status = Clear(tx, {datasource, row.Int(0)});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ClearOfHolder(store::Transaction& tx, int64_t datasource, const std::string& whom) {
  return ClearAll(
      tx, datasource,
      tx.Query("SELECT token FROM lease_reservation WHERE live = 1 AND datasource = :datasource"
               " AND identity = :whom AND deadline_ms <= :now LIMIT :most",
               {datasource, whom, tx.now(), kMostCleared}));
}

absl::Status ClearOfDatasource(store::Transaction& tx, int64_t datasource) {
  return ClearAll(
      tx, datasource,
      tx.Query("SELECT token FROM lease_reservation WHERE live = 1 AND datasource = :datasource"
               " AND deadline_ms <= :now LIMIT :most",
               {datasource, tx.now(), kMostCleared}));
}

absl::StatusOr<bool> HolderIsFull(store::Transaction& tx, int64_t datasource,
                                  const std::string& whom, int64_t limit, Lapsed lapsed) {
  absl::Status cleared =
      lapsed == Lapsed::kCleared ? ClearOfHolder(tx, datasource, whom) : absl::OkStatus();
  if (!cleared.ok()) return cleared;
  absl::StatusOr<store::Rows> count = tx.Query(
      "SELECT COUNT(*) FROM (SELECT 1 FROM lease_reservation WHERE live = 1"
      " AND datasource = :datasource AND identity = :whom AND deadline_ms > :now"
      " LIMIT :limit) AS live",
      {datasource, whom, tx.now(), limit});
  if (!count.ok()) return count.status();
  return count->front().Int(0) >= limit;
}

absl::StatusOr<bool> DatasourceIsFull(store::Transaction& tx, int64_t datasource, int64_t limit,
                                      Lapsed lapsed) {
  absl::Status cleared =
      lapsed == Lapsed::kCleared ? ClearOfDatasource(tx, datasource) : absl::OkStatus();
  if (!cleared.ok()) return cleared;
  absl::StatusOr<store::Rows> count = tx.Query(
      "SELECT COUNT(*) FROM (SELECT 1 FROM lease_reservation WHERE live = 1"
      " AND datasource = :datasource AND deadline_ms > :now LIMIT :limit) AS live",
      {datasource, tx.now(), limit});
  if (!count.ok()) return count.status();
  return count->front().Int(0) >= limit;
}

}  // namespace

const std::string& CountedFor(const std::string& identity, const std::string& holder) {
  return identity.empty() ? holder : identity;
}

absl::Status CheckLive(store::Transaction& tx, const DatasourceRow& datasource,
                       const ReserveRequest& request, const std::string& whom, const Limits& limits,
                       Lapsed lapsed) {
  if (limits.live_per_holder > 0) {
    absl::StatusOr<int64_t> bound = BoundOf(tx, datasource.number, whom);
    if (!bound.ok()) return bound.status();
    if (*bound >= limits.live_per_holder) {
      absl::StatusOr<bool> full =
          HolderIsFull(tx, datasource.number, whom, limits.live_per_holder, lapsed);
      if (!full.ok()) return full.status();
      if (*full) {
        return TooManyLive("max_reservations_per_holder", limits.live_per_holder,
                           absl::StrCat(whom, " in ", request.datasource));
      }
    }
  }
  if (limits.live_per_datasource > 0 && datasource.live >= limits.live_per_datasource) {
    absl::StatusOr<bool> full =
        DatasourceIsFull(tx, datasource.number, limits.live_per_datasource, lapsed);
    if (!full.ok()) return full.status();
    if (*full) {
      return TooManyLive("max_reservations_per_datasource", limits.live_per_datasource,
                         request.datasource);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRoom(store::Transaction& tx, const ReserveRequest& request,
                       const std::string& identity, const Limits& limits) {
  absl::StatusOr<std::optional<DatasourceRow>> row = FindDatasource(tx, request.datasource);
  if (!row.ok()) return row.status();
  return CheckLive(tx, row->value_or(DatasourceRow{}), request,
                   CountedFor(identity, request.holder), limits, Lapsed::kLeft);
}

absl::Status CountOneMore(store::Transaction& tx, int64_t datasource, const std::string& whom) {
  return tx
      .Execute(
          "INSERT INTO lease_holder (datasource, holder, live_count)"
          " VALUES (:datasource, :holder, 1) ON CONFLICT (datasource, holder)"
          " DO UPDATE SET live_count = lease_holder.live_count + 1",
          {datasource, whom})
      .status();
}

}  // namespace interlock::lease
