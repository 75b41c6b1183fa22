// Walks the chain and says whether an event is missing, was changed or was written in.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "lib/store/store.h"

namespace interlock::audit {

struct ChainReport {
  bool intact = true;
  int64_t checked = 0;       // events walked
  int64_t first_broken = 0;  // position; 0 where none is broken
  std::string message;       // what is wrong there, naming the row
  int64_t unchained = 0;     // newest events that are not chained yet
  int64_t checkpoint = 0;    // position from whose hash the walk began; 0 from the beginning
  // Of the last event walked. Written down elsewhere it shows a later rewrite of the whole
  // chain, which nothing inside of the store can.
  std::string hash;
};

// From `from` to `to`, positions; 0 for the oldest that is kept, and for the newest. Found
// are: another value in any column of an event, an event that is gone, one that was written
// in, events or blocks that are gone from the end, hashes that don't follow. Any transaction;
// 100,000 events take about a second.
absl::StatusOr<ChainReport> VerifyChain(store::Transaction& tx, int64_t from, int64_t to);

}  // namespace interlock::audit
