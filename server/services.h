// Every gRPC service of the server, and the calls behind them.
//
// Threads: safe once made.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "grpcpp/server.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/drop/drops.h"
#include "lib/druid/cluster.h"
#include "lib/seal/corrections.h"
#include "lib/seal/seals.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "server/backfilling.h"
#include "server/correction_call.h"
#include "server/dropping.h"
#include "server/executor.h"
#include "server/lease_settings.h"
#include "server/metrics.h"
#include "server/seal_upkeep.h"
#include "server/server_service.h"
#include "server/streaming.h"

namespace interlock::server {

class Services {
 public:
  // All of it outlives the services.
  struct World {
    const config::v1::ServerConfig& config;
    LeaseSettings& lease_settings;
    const Clock& clock;
    Metrics& metrics;
    store::Store& store;
    druid::Cluster& cluster;
    druid::Access access;
    Executor& executor;
    Backfilling& backfilling;
    Dropping& dropping;
    Streaming& streaming;
    seal::Seals& seals;
    seal::Corrections& corrections;
    SealUpkeep& seal_upkeep;
    CorrectionCall& correction_call;
    std::function<ProcessState()> state;
  };

  explicit Services(const World& world);
  ~Services();

  // As grpc::ServerBuilder wants them; they live as long as this.
  std::vector<grpc::Service*> all();

  // Ends what a client may wait or listen for, for hours: waits in line, watches of reservations,
  // verifications that wait.
  void EndWaits();

 private:
  class Made;
  std::unique_ptr<Made> made_;
};

}  // namespace interlock::server
