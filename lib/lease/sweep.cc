#include <algorithm>
#include <optional>

#include "lib/lease/lease_errors.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"

namespace interlock::lease {
namespace {

// Rows of one call: a few milliseconds of the writer's time.
constexpr int64_t kLooked = 1000;

absl::Status Remove(store::Transaction& tx, const Key& key) {
  absl::Status status = tx.Execute(
                              "DELETE FROM lease_interval WHERE datasource = :datasource"
                              " AND token = :token",
                              {key.datasource, key.token})
                            .status();
  if (!status.ok()) return status;
  return tx
      .Execute("DELETE FROM lease_reservation WHERE datasource = :datasource AND token = :token",
               {key.datasource, key.token})
      .status();
}

// Whether it was removed.
absl::StatusOr<bool> SweepOne(store::Transaction& tx, const Key& key, Instant before) {
  absl::Status status = Clear(tx, key);
  if (!status.ok()) return status;
  absl::StatusOr<std::optional<Stored>> cleared = FindStored(tx, key);
  if (!cleared.ok()) return cleared.status();
  const std::optional<Instant> ended = (*cleared)->reservation.ended;
  if ((*cleared)->live || !ended.has_value() || *ended >= before) return false;
  status = Remove(tx, key);
  if (!status.ok()) return status;
  return true;
}

}  // namespace

absl::StatusOr<Swept> Sweep(store::Transaction& tx, Instant before, const std::string& after) {
  Key place;
  if (!after.empty()) {
    const std::optional<Key> key = KeyOf(after);
    if (!key.has_value()) return BadPageToken(after);
    place = *key;
  }
  absl::StatusOr<std::vector<Stored>> chunk = StoredAfter(tx, 0, place, kLooked);
  if (!chunk.ok()) return chunk.status();
  // Within that time a removed one would let its request id grant again.
  const Instant removable = std::min(before, tx.now() - kRequestIdKept);
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

}  // namespace interlock::lease
