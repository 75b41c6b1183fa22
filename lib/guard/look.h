// One look at all streams of a cluster: supervisors from their list, what may still be
// written from the payloads of the tasks that live. The supervisors' status is asked only
// for how they do, never for which tasks there are.
//
// Threads: a StreamLook is of one thread at a time.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/druid/cluster.h"
#include "lib/guard/tail.h"
#include "lib/time/instant.h"

namespace interlock::guard {

// (datasource, supervisor id). A task without a supervisor is under the name that its
// group gives.
using SeenKey = std::pair<std::string, std::string>;

struct SeenStreams {
  std::map<SeenKey, Seen> streams;
  // Tasks of datasources that have no supervisor that reads a stream.
  std::vector<druid::StreamTask> orphans;
};

class StreamLook {
 public:
  // Must outlive it.
  explicit StreamLook(druid::Cluster& cluster) : cluster_(cluster) {}

  // `now`: the store's clock, to tell how far Druid's is behind. Unknown wherever any part
  // of it is: half a picture would be taken for tails that have moved.
  druid::Answer<SeenStreams> Look(Instant now);

 private:
  druid::Answer<std::vector<druid::StreamTask>> LiveTasks();

  druid::Cluster& cluster_;
  // Payloads never change (measured: not even with the bounds that move).
  std::map<std::string, druid::StreamTask> known_;
};

}  // namespace interlock::guard
