// The backfills of this server: what is stored of them, and the workers that bring them on.
#pragma once

#include "absl/status/status.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/changes.h"
#include "lib/backfill/handover_worker.h"
#include "lib/backfill/jobs.h"
#include "lib/backfill/retire_worker.h"
#include "lib/backfill/rollback_worker.h"
#include "lib/backfill/runner.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/work/loop.h"
#include "server/backfill_upkeep.h"
#include "server/backfill_watch.h"
#include "server/metrics.h"

namespace interlock::server {

class Backfilling {
 public:
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    const Clock& clock;
    Metrics& metrics;
    work::Loop& loop;
  };
  // All of `world` must outlive it but the loop, whose threads must have ended before. Hands
  // its kinds of work to the loop, which must not have started.
  Backfilling(const World& world, const config::v1::ServerConfig& config);

  // Makes what comes again and again due.
  absl::Status Schedule() { return upkeep_.Schedule(); }

  backfill::Backfills& backfills() { return backfills_; }
  backfill::Jobs& jobs() { return jobs_; }
  BackfillWatcher& watcher() { return watcher_; }

 private:
  Backfilling(const World& world, const config::v1::ServerConfig& config,
              const backfill::Options& options);
  // The pause of a stream is over.
  void Observe(const backfill::Handover& handover);

  store::Store& store_;
  Metrics& metrics_;
  backfill::Changes changes_;
  backfill::Backfills backfills_;
  backfill::Jobs jobs_;
  backfill::Runner runner_;
  backfill::RollbackWorker rollbacks_;
  backfill::HandoverWorker handovers_;
  backfill::RetireWorker retirements_;
  BackfillUpkeep upkeep_;
  BackfillWatcher watcher_;  // last: its thread uses the rest
};

}  // namespace interlock::server
