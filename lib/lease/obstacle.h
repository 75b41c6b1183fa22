// What else bars time: statements that are no reservations, kept by modules that this one
// does not know (seals, drops), asked inside of every grant's transaction.
//
// A module that bars time hands in a function; the server gathers them in
// Limits::obstacles, which every Reserve and FindHeld of the process is given. So a grant
// and whatever bars it are decided in one transaction, and neither can slip past the other.
//
// Rules for the function: it reads, only through `tx`, by an index step or two (it runs in
// every grant); judges by tx.now(); and answers the same for the same rows. An error of
// its own fails the grant.
//
// Threads: called on the store's threads, several at a time.
#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/lease/reservation.h"
#include "lib/store/store.h"

namespace interlock::lease {

// Which parts of `intervals` (condensed) a request of `mode` can't have, by start. Each
// with `interval` (within what was asked), `by` (kSeal, kDrop, kTail), `reason` ("SEALED"),
// `holder` (who made it), `purpose` (why), `since`, `until` (Instant::kMax where no time
// ends it), `link` ("seals/s7"), `message` (one sentence) and `remedy`.
using Obstacle = std::function<absl::StatusOr<std::vector<Held>>(
    store::Transaction& tx, const std::string& datasource, Mode mode,
    const std::vector<Interval>& intervals)>;

class Obstacles {
 public:
  explicit Obstacles(std::vector<Obstacle> all) : all_(std::move(all)) {}

  // What all of them bar, one after the other.
  absl::StatusOr<std::vector<Held>> Find(store::Transaction& tx, const std::string& datasource,
                                         Mode mode, const std::vector<Interval>& intervals) const {
    std::vector<Held> found;
    for (const Obstacle& obstacle : all_) {
      absl::StatusOr<std::vector<Held>> more = obstacle(tx, datasource, mode, intervals);
      if (!more.ok()) return more.status();
      found.insert(found.end(), std::make_move_iterator(more->begin()),
                   std::make_move_iterator(more->end()));
    }
    return found;
  }

 private:
  const std::vector<Obstacle> all_;
};

}  // namespace interlock::lease
