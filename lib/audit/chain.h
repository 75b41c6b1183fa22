// Chains events by hash, after they were committed, so that a grant never waits for it.
//
// Guarantee: every event that is committed is chained, once, whatever the order in which
// rows become visible. On one server that order is the numbers'. Where several share a
// database a row's number is drawn before its transaction commits: a number that is not
// there when a later one is chained is kept as a gap and looked for again in every pass,
// for kGapKept, which is far longer than any transaction lives; a row that turns up there
// is chained behind what was chained before it. (A number whose transaction was rolled
// back never turns up.) A row that turns up later still, or that somebody writes in by
// hand, is in no block, and VerifyChain names it.
//
// Reading and hashing run on a snapshot; the write transaction only checks that the chain
// still ends where the snapshot says, so that any number of chainers do no harm.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/store.h"

namespace interlock::audit {

// Events of one block.
inline constexpr int64_t kBlockEvents = 500;
inline constexpr absl::Duration kGapKept = absl::Hours(24);

// Chains up to kBlockEvents events and gives how many. ABORTED (CHAIN_MOVED) where another
// chainer was quicker: just call it again.
absl::StatusOr<int64_t> ChainOnce(store::Store& store);

// Events that are not chained yet; counts no further than `most`. Any transaction.
absl::StatusOr<int64_t> CountUnchained(store::Transaction& tx, int64_t most);

}  // namespace interlock::audit
