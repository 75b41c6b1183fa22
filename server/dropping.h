// The drops of this server: what is stored of them, the worker that brings them on, and the
// policies that make drops by themselves.
#pragma once

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/drop/drops.h"
#include "lib/drop/retention_policies.h"
#include "lib/drop/worker.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/work/loop.h"

namespace interlock::server {

class Dropping {
 public:
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    const Clock& clock;
    work::Loop& loop;
  };
  // Told beside the log; metrics are read from the store (gauges.h).
  struct Callbacks {
    std::function<void(const drop::Drop& drop, const std::string& reason)> on_kill_failure;
    std::function<void(const drop::Drop& drop, const std::string& reason)> on_foreign_change;
  };
  // All of `world` must outlive it but the loop, whose threads must have ended before. Hands
  // its kinds of work to the loop, which must not have started.
  Dropping(const World& world, const config::v1::ServerConfig& config, Callbacks callbacks);

  drop::Drops& drops() { return drops_; }
  drop::RetentionPolicies& retention() { return retention_; }

  // Not from the store's own thread, which is where jumps are seen.
  void NoteClockJump(absl::Duration by);

 private:
  drop::WorkerOptions WorkerOptions(const World& world, const config::v1::ServerConfig& config);

  const Callbacks callbacks_;
  drop::Drops drops_;
  drop::Worker worker_;
  drop::RetentionPolicies retention_;
};

}  // namespace interlock::server
