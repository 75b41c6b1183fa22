// The worker of backfills: takes a backfill whose step is due, looks at Druid, and moves
// each of its units on by one.
//
// Guarantees (P2, P3): an attempt's intent, its pinned id and its nonce are stored, and its
// time is pinned, before the task is posted; whether a lost POST arrived is settled by the
// id; nothing is posted again before that; DONE is stored together with its proof. A call
// that changes Druid goes out only when the worker's claim and the lease both last longer
// than the call. Killing the process between any two instructions loses nothing.
//
// Threads: Step from any thread; steps of different backfills run side by side.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/options.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"
#include "lib/work/loop.h"
#include "lib/work/steps.h"

namespace interlock::backfill {

// 128 random bits in hex, from the system's generator.
std::string RandomNonce();

class Runner {
 public:
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    const Clock& clock;
    Changes& changes;
    // A partition was proven DONE or EMPTY so long after its task's intent was stored.
    std::function<void(absl::Duration)> on_proven = {};
  };

  // All of `world` must outlive this. `nonce` gives another text at each call.
  Runner(World world, Options options, std::function<std::string()> nonce = RandomNonce);

  // For work::Loop::Handle(kWorkKind, …): one pass over one backfill.
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  // How often in a row Druid did not answer this backfill's steps.
  int64_t CountFailure(const std::string& id, bool failed) INTERLOCK_EXCLUDES(mutex_);

  const World world_;
  const Options options_;
  const std::function<std::string()> nonce_;

  Mutex mutex_;
  std::map<std::string, int64_t> failures_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::backfill
