#include "server/backfill_options.h"

#include <algorithm>

#include "server/conversions/time.h"
#include "server/guard_options.h"

namespace interlock::server {

backfill::Options BackfillOptions(const config::v1::ServerConfig& config,
                                  const lease::Limits& limits) {
  const auto& backfills = config.backfills();
  backfill::Options options;
  options.manage = config.druid().access() != config::v1::Druid::OBSERVE;
  options.max_parallel = backfills.max_parallel();
  options.max_per_datasource = backfills.max_parallel_per_datasource();
  options.max_in_all = backfills.max_parallel_total();
  options.max_attempts = backfills.max_attempts();
  options.max_unit_partitions = config.limits().max_partitions_per_unit();
  options.lease_ttl = FromProto(backfills.lease_ttl());
  options.call_deadline = FromProto(config.druid().call_timeout());
  options.waiting_deadline = FromProto(backfills.waiting_deadline());
  options.run_deadline = FromProto(backfills.run_deadline());
  options.poll_every = FromProto(backfills.poll_interval());
  options.slow_poll = std::max(options.slow_poll, options.poll_every);
  options.rollback_window = FromProto(backfills.rollback_window());
  options.retire = backfills.retire() && options.manage;
  options.settle_time = FromProto(backfills.settle_time());
  options.max_pause = FromProto(backfills.max_pause());
  options.guard = GuardOptions(config);
  options.lease_limits = limits;
  return options;
}

}  // namespace interlock::server
