// Seals, policies and corrections in the store's tables.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/seal/seal.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"

namespace interlock::seal {

store::Schema SealSchema();

// --- Seals: those of one datasource are disjoint ------------------------------------------

// Gives it its number and id.
absl::Status InsertSeal(store::Transaction& tx, Seal& seal);
absl::Status UpdateSeal(store::Transaction& tx, const Seal& seal);
absl::Status DeleteSeal(store::Transaction& tx, const std::string& id);
// UNKNOWN_SEAL. State as stored: see StateAt.
absl::StatusOr<Seal> ReadSeal(store::Transaction& tx, const std::string& id);
absl::StatusOr<std::optional<Seal>> FindByRequest(store::Transaction& tx,
                                                  const std::string& sealed_by,
                                                  const std::string& request_id);
// By start, those that are being sealed included: two index steps, and one for each found.
absl::StatusOr<std::vector<Seal>> SealsOver(store::Transaction& tx, const std::string& datasource,
                                            const Interval& interval);
// After (datasource, start); "" for all datasources. Looks at no more than `most`.
struct Place {
  std::string datasource;
  Instant start = Instant::kMin;
  bool at_start = true;
};
absl::StatusOr<std::vector<Seal>> SealsAfter(store::Transaction& tx, const std::string& datasource,
                                             const Place& after, int64_t most);
absl::StatusOr<std::vector<std::string>> AllSealIds(store::Transaction& tx);

// --- What was sealed ----------------------------------------------------------------------

absl::Status ReplaceBuckets(store::Transaction& tx, const std::string& seal_id,
                            const std::vector<Bucket>& buckets);
absl::StatusOr<std::vector<Bucket>> ReadBuckets(store::Transaction& tx, const std::string& seal_id);
// The snapshot of the whole interval.
absl::Status ReplaceTotals(store::Transaction& tx, const std::string& seal_id,
                           const std::vector<Group>& groups);
absl::StatusOr<std::vector<Group>> ReadTotals(store::Transaction& tx, const std::string& seal_id,
                                              int64_t from, int64_t most);

}  // namespace interlock::seal
