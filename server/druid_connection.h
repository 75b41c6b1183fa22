// The Druid that the configuration names, or the simulated one in this process, and the one
// client of it that all share.
//
// Threads: any, once connected.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/druid/cluster.h"
#include "lib/simulator/simulator.h"
#include "lib/time/clock.h"
#include "server/metrics.h"

namespace interlock::server {

class DruidConnection {
 public:
  // Asks Druid nothing yet. Both must outlive this; a simulated Druid keeps its state in a
  // folder beside the store.
  absl::Status Connect(const config::v1::ServerConfig& config, const Clock& clock,
                       Metrics& metrics);

  druid::Cluster& cluster() { return *cluster_; }
  druid::Access access() const { return options_.access; }
  // For another client of the same Druid, of lesser rights or pace.
  const druid::ClusterOptions& options() const { return options_; }
  std::shared_ptr<druid::HttpTransport> transport() const { return transport_; }

 private:
  absl::Status Simulate(const std::string& store_path, const Clock& clock,
                        config::v1::Druid& druid);

  std::unique_ptr<simulator::Simulator> simulator_;
  druid::ClusterOptions options_;
  std::shared_ptr<druid::HttpTransport> transport_;
  std::unique_ptr<druid::Cluster> cluster_;
};

}  // namespace interlock::server
