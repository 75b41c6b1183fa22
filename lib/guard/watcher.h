// Looks at all streams, again and again: one due step of lib/work, so that of several
// replicas one does it, and another goes on where that one stalls.
//
// Threads: Step from one thread at a time (there is one step); the rest of the process
// reads what it stores.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/druid/cluster.h"
#include "lib/guard/look.h"
#include "lib/guard/options.h"
#include "lib/guard/rows.h"
#include "lib/store/store.h"
#include "lib/work/loop.h"
#include "lib/work/steps.h"

namespace interlock::guard {

// The step's kind in lib/work; its one key.
inline constexpr char kWorkKind[] = "streams";
inline constexpr char kWorkKey[] = "all";

class Watcher {
 public:
  // Both must outlive it.
  Watcher(store::Store& store, druid::Cluster& cluster, Options options)
      : store_(store), cluster_(cluster), options_(std::move(options)), look_(cluster) {}

  // Makes its step due: once, at the start.
  static absl::Status Begin(store::Transaction& tx);

  // For work::Loop::Handle(kWorkKind, …).
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  absl::Status Observe(const SeenStreams& seen, const work::Claim& claim);
  // How each supervisor does; of one that can't be asked, nothing.
  std::map<SeenKey, Health> AskHealth(const SeenStreams& seen);
  // Counters of live tasks, and the last word of those that have ended.
  absl::Status CountRows(const SeenStreams& seen);
  TaskRow LastWord(TaskRow row);

  store::Store& store_;
  druid::Cluster& cluster_;
  const Options options_;
  StreamLook look_;
};

}  // namespace interlock::guard
