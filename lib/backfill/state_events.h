// What moved by itself, in the audit: units and whole backfills, each with before and
// after. What a caller asked for has its own event (Backfills).
//
// Threads: functions on a transaction.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "lib/backfill/record.h"
#include "lib/store/store.h"

namespace interlock::backfill {

// "unit.DONE" …; nothing where the state is the same.
absl::Status RecordUnitMoved(store::Transaction& tx, const std::string& datasource, State before,
                             const StoredUnit& after);
// "backfill.FAILED" …
absl::Status RecordPhaseMoved(store::Transaction& tx, Phase before, const Backfill& after);

}  // namespace interlock::backfill
