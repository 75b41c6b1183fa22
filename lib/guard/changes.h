// What is wrong with a stream, from one look to the next: findings.
//
// Threads: functions on a write transaction.
#pragma once

#include "absl/status/status.h"
#include "lib/guard/look.h"
#include "lib/guard/options.h"
#include "lib/guard/stream.h"
#include "lib/store/store.h"

namespace interlock::guard {

// Between two looks: the tail moved back over a live lease; another spec; somebody else
// suspended or resumed it.
absl::Status ReportChanges(store::Transaction& tx, const Stream& before, const Stream& after);

// In one look: unhealthy; a task that reads another topic than its supervisor; rows thrown
// away.
absl::Status ReportState(store::Transaction& tx, const Stream& stream, const Seen& seen,
                         const Options& options);

// The supervisor is gone.
absl::Status ReportGone(store::Transaction& tx, const Stream& stream);

// Tasks that run on without a supervisor: nobody stops them, and they hold their locks.
absl::Status ReportOrphans(store::Transaction& tx, const SeenStreams& seen, const Options& options);

}  // namespace interlock::guard
