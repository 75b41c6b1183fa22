// Writes down what a look at Druid showed: streams, their tails, and what is wrong.
//
// Threads: functions on a write transaction.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "lib/guard/look.h"
#include "lib/guard/options.h"
#include "lib/guard/stream.h"
#include "lib/store/store.h"

namespace interlock::guard {

// All of them. What is not among `seen` any more is gone once it was missed twice: one
// list that is short may be a permission that was lost.
absl::Status ObserveAll(store::Transaction& tx, const SeenStreams& seen,
                        const std::map<SeenKey, Health>& healths, const Options& options);

// One stream, as it is now. Makes it where it was not known.
absl::Status ObserveOne(store::Transaction& tx, const SeenKey& key, const Seen& seen,
                        const Health* health, const Options& options);

// Druid can't be asked: tails stay as last known.
absl::Status MarkStale(store::Transaction& tx, const Options& options);

// The tail of `stream` from its declaration, that of its datasource, and `seen`.
absl::StatusOr<Tail> TailOf(store::Transaction& tx, const Stream& stream, const Seen* seen);

}  // namespace interlock::guard
