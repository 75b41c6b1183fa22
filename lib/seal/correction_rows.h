// Corrections in the store's tables. Internal to lib/seal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/seal/corrections.h"
#include "lib/store/store.h"

namespace interlock::seal {

// Gives it its number, in its datasource, and its id. False where the last one that the
// backfill has stored of that start has the same figures.
absl::StatusOr<bool> InsertCorrection(store::Transaction& tx, Correction& correction);
// In the order of their making, after `after`; looks at no more than `most`.
struct NumberedCorrection {
  int64_t place = 0;
  Correction correction;
};
absl::StatusOr<std::vector<NumberedCorrection>> CorrectionsAfter(store::Transaction& tx,
                                                                 const std::string& datasource,
                                                                 int64_t after, int64_t most);

}  // namespace interlock::seal
