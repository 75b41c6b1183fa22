// The sweeper at work: its own cluster behind a bounded rate, its own threads, so that
// neither backfills wait for it nor it for them.
//
// Threads: Start and Stop from one.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/drop/drops.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/sweep/paced_transport.h"
#include "lib/sweep/sweeper.h"
#include "lib/time/clock.h"
#include "lib/work/loop.h"
#include "server/metrics.h"

namespace interlock::server {

class Sweeping {
 public:
  struct World {
    store::Store& store;
    const drop::Drops& drops;
    const Clock& clock;
    Metrics& metrics;
  };
  // As the server's own, but for the rate. All of `world` must outlive it.
  Sweeping(World world, const config::v1::Verification& config,
           const druid::ClusterOptions& options, std::shared_ptr<druid::HttpTransport> transport);
  ~Sweeping() { Stop(); }

  absl::Status Start();
  // Ends what waits for its turn, and the sweeps under way.
  void Stop();

  // Something that somebody else did to a drop; kept until the drop is over.
  void NoteForeignChange(const drop::Drop& drop, const std::string& reason);
  void NoteKillFailure(const drop::Drop& drop, const std::string& reason);

 private:
  void Note(const drop::Drop& drop, const char* kind, const std::string& reason,
            const std::string& message, const std::string& remedy);
  void Count(const std::string& datasource, const sweep::Observed& opened);

  const World world_;
  std::shared_ptr<sweep::PacedTransport> transport_;
  druid::Cluster cluster_;
  std::unique_ptr<sweep::Sweeper> sweeper_;
  std::unique_ptr<work::Loop> loop_;  // last: its threads use the rest
};

}  // namespace interlock::server
