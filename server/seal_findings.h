// What a look at a seal found, kept as a finding: open while the seal is broken or rewritten,
// closed by the first look that finds it as it was sealed, or lifted, or gone.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "lib/seal/seal.h"
#include "lib/store/store.h"

namespace interlock::server {

// One that can't be told now changes nothing. Within a write transaction.
absl::Status KeepSealFinding(store::Transaction& tx, const seal::Seal& seal);
// Of a seal that is no more.
absl::Status CloseSealFindings(store::Transaction& tx, const std::string& seal_id);

}  // namespace interlock::server
