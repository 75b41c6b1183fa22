// The guard of streams in this server: its worker, its service, its configuration.
#pragma once

#include "absl/status/status.h"
#include "grpcpp/impl/service_type.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/druid/cluster.h"
#include "lib/guard/streams.h"
#include "lib/guard/watcher.h"
#include "lib/lease/reservation.h"
#include "lib/store/store.h"
#include "lib/work/loop.h"
#include "server/executor.h"
#include "server/streams_service.h"

namespace interlock::server {

class Streaming {
 public:
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    Executor& executor;
  };
  // All of `world` must outlive it.
  Streaming(const World& world, const config::v1::ServerConfig& config,
            const lease::Limits& limits);

  // Before the loop starts; the loop must not outlive this.
  absl::Status Start(store::Store& store, work::Loop& loop);
  grpc::Service* service() { return &service_; }
  const guard::Streams& streams() const { return streams_; }

 private:
  const guard::Options options_;
  guard::Streams streams_;
  guard::Watcher watcher_;
  StreamsService service_;
};

}  // namespace interlock::server
