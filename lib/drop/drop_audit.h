// The audit event of a change that somebody asked for.
//
// Threads: the transaction's.
#pragma once

#include "absl/status/status.h"
#include "lib/audit/caller.h"
#include "lib/drop/record.h"
#include "lib/store/store.h"

namespace interlock::drop {

// `drop` is as it is now, `before` the state that it was in.
absl::Status RecordChange(store::Transaction& tx, const char* method, const audit::Caller& caller,
                          const Drop& drop, State before);

}  // namespace interlock::drop
