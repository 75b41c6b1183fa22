// A stream's tail as the lease table has it, where every grant sees it.
#pragma once

#include "absl/status/status.h"
#include "lib/guard/options.h"
#include "lib/guard/stream.h"
#include "lib/store/store.h"

namespace interlock::guard {

// Puts the tail where grants see it, or takes it away where it refuses nothing: there is
// none, or it has no bound and that was accepted. A write transaction.
absl::Status MirrorTail(store::Transaction& tx, const Stream& stream, const Options& options);

// Whether backfills may run beside the unbounded tail of this stream.
absl::StatusOr<bool> AcceptsUnbounded(store::Transaction& tx, const Stream& stream,
                                      const Options& options);

}  // namespace interlock::guard
