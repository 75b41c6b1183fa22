#include <algorithm>
#include <optional>
#include <vector>

#include "lib/lease/lease_errors.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"

namespace interlock::lease {
namespace {

// Rows of one call: a few milliseconds of the writer's time.
constexpr int64_t kLooked = 1000;

absl::Status Remove(store::Transaction& tx, const Key& key) {
  for (const char* sql :
       {"DELETE FROM lease_interval WHERE datasource = :datasource AND token = :token",
        "DELETE FROM lease_loan WHERE datasource = :datasource AND token = :token",
        "DELETE FROM lease_reservation WHERE datasource = :datasource AND token = :token"}) {
    absl::Status status = tx.Execute(sql, {key.datasource, key.token}).status();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Whether it was removed.
absl::StatusOr<bool> SweepOne(store::Transaction& tx, const Key& key, Instant before) {
  absl::Status status = LockDatasource(tx, key.datasource).status();
  if (status.ok()) status = Clear(tx, key);
  if (!status.ok()) return status;
  absl::StatusOr<std::optional<Stored>> cleared = FindStored(tx, key);
  if (!cleared.ok()) return cleared.status();
  if (!cleared->has_value()) return false;
  const std::optional<Instant> ended = (*cleared)->reservation.ended;
  if ((*cleared)->live || !ended.has_value() || *ended >= before) return false;
  status = Remove(tx, key);
  if (!status.ok()) return status;
  return true;
}

}  // namespace

absl::StatusOr<Swept> Sweep(store::Transaction& tx, Instant before, const std::string& after,
                            absl::Duration request_id_kept) {
  Key place;
  if (!after.empty()) {
    const std::optional<Key> key = KeyOf(after);
    if (!key.has_value()) return BadPageToken(after);
    place = *key;
  }
  absl::StatusOr<std::vector<Stored>> chunk = StoredAfter(tx, 0, place, kLooked);
  if (!chunk.ok()) return chunk.status();
  // Within that time a removed one would let its request id grant again.
  const Instant removable = std::min(before, tx.now() - request_id_kept);
  Swept swept;
  for (const Stored& stored : *chunk) {
    place = stored.key;
    if (IsActive(stored, tx.now())) continue;
    absl::StatusOr<bool> removed = SweepOne(tx, stored.key, removable);
    if (!removed.ok()) return removed.status();
    swept.removed += *removed ? 1 : 0;
  }
  if (static_cast<int64_t>(chunk->size()) == kLooked) swept.next = IdOf(place);
  return swept;
}

absl::StatusOr<std::optional<Instant>> NextExpiry(store::Transaction& tx) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT MIN(deadline_ms) FROM lease_reservation WHERE live = 1 AND state = 'ACTIVE'", {});
  if (!rows.ok()) return rows.status();
  return rows->front().MaybeAt(0);
}

absl::StatusOr<int64_t> NoteExpiries(store::Transaction& tx) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT datasource, token FROM lease_reservation WHERE live = 1 AND state = 'ACTIVE'"
      " AND deadline_ms <= :now ORDER BY deadline_ms LIMIT :most",
      {tx.now(), kLooked});
  if (!rows.ok()) return rows.status();
  std::vector<Key> due;
  for (const store::Row& row : *rows) due.push_back({row.Int(0), row.Int(1)});
  // Datasources are locked in one order by all replicas.
  std::stable_sort(due.begin(), due.end(),
                   [](const Key& a, const Key& b) { return a.datasource < b.datasource; });
  for (const Key& key : due) {
    absl::Status status = LockDatasource(tx, key.datasource).status();
    if (status.ok()) status = Clear(tx, key);
    if (!status.ok()) return status;
  }
  return static_cast<int64_t>(due.size());
}

}  // namespace interlock::lease
