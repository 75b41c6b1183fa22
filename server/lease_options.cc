#include "server/lease_options.h"

#include <memory>
#include <vector>

#include "server/conversions/time.h"
#include "server/seal_obstacle.h"

namespace interlock::server {

lease::Limits LeaseLimits(const config::v1::ServerConfig& config) {
  const config::v1::Limits& set = config.limits();
  lease::Limits limits;
  limits.intervals_per_call = set.max_intervals_per_call();
  limits.shortest_ttl = FromProto(set.min_ttl());
  limits.longest_ttl = FromProto(set.max_ttl());
  limits.live_per_holder = set.max_reservations_per_holder();
  limits.live_per_datasource = set.max_reservations_per_datasource();
  if (set.has_max_interval()) limits.longest_interval = FromProto(set.max_interval());
  limits.longest_wait = FromProto(set.max_wait());
  limits.lock_delay = FromProto(set.lock_delay());
  limits.request_id_kept = FromProto(config.retention().request_ids());
  limits.obstacles = std::make_shared<lease::Obstacles>(std::vector{SealObstacle()});
  return limits;
}

}  // namespace interlock::server
