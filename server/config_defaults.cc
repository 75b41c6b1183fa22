#include "server/config_defaults.h"

#include <cstdint>

#include "server/conversions/time.h"

namespace interlock::server {
namespace {

using google::protobuf::Duration;

// For a field that was not set, which is asked before: to name the mutable one sets it. A
// duration of 0 that was written stays.
void Set(Duration* duration, double seconds) {
  duration->set_seconds(static_cast<int64_t>(seconds));
  duration->set_nanos(
      static_cast<int32_t>((seconds - static_cast<double>(duration->seconds())) * 1e9));
}

constexpr double kMinute = 60;
constexpr double kHour = 60 * kMinute;
constexpr double kDay = 24 * kHour;

void FillListen(config::v1::Listen& listen) {
  if (listen.address().empty()) listen.set_address("127.0.0.1:7430");
  if (listen.admin_address().empty()) listen.set_admin_address("127.0.0.1:7431");
  if (!listen.has_drain_timeout()) Set(listen.mutable_drain_timeout(), 20);
}

void FillDruid(config::v1::Druid& druid) {
  if (druid.access() == config::v1::Druid::ACCESS_UNSPECIFIED) {
    druid.set_access(config::v1::Druid::MANAGE);
  }
  if (!druid.has_connect_timeout()) Set(druid.mutable_connect_timeout(), 2);
  if (!druid.has_call_timeout()) Set(druid.mutable_call_timeout(), 30);
  if (druid.max_reply_bytes() == 0) druid.set_max_reply_bytes(int64_t{4} << 30);
}

void FillStore(config::v1::Store& store) {
  if (!store.has_postgresql()) return;
  auto& postgresql = *store.mutable_postgresql();
  if (!postgresql.has_start_timeout()) Set(postgresql.mutable_start_timeout(), 5 * kMinute);
}

void FillLimits(config::v1::Limits& limits) {
  if (!limits.has_max_ttl()) Set(limits.mutable_max_ttl(), kDay);
  if (!limits.has_min_ttl()) Set(limits.mutable_min_ttl(), 1);
  if (!limits.has_default_ttl()) {
    auto& ttl = *limits.mutable_default_ttl();
    Set(&ttl, 10 * kMinute);
    if (FromProto(ttl) > FromProto(limits.max_ttl())) ttl = limits.max_ttl();
    if (FromProto(ttl) < FromProto(limits.min_ttl())) ttl = limits.min_ttl();
  }
  if (limits.max_intervals_per_call() == 0) limits.set_max_intervals_per_call(1'000);
  if (limits.max_partitions_per_unit() == 0) limits.set_max_partitions_per_unit(1'000);
  if (limits.max_partitions_per_call() == 0) limits.set_max_partitions_per_call(10'000);
  if (limits.max_reservations_per_holder() == 0) limits.set_max_reservations_per_holder(100'000);
  if (limits.max_reservations_per_datasource() == 0) {
    limits.set_max_reservations_per_datasource(2'000'000);
  }
  if (!limits.has_max_wait()) Set(limits.mutable_max_wait(), kHour);
  if (limits.max_request_bytes() == 0) limits.set_max_request_bytes(16 << 20);
  if (limits.max_spec_bytes() == 0) limits.set_max_spec_bytes(4 << 20);
}

void FillBackfills(config::v1::Backfills& backfills) {
  if (backfills.max_attempts() == 0) backfills.set_max_attempts(3);
  if (backfills.max_parallel() == 0) backfills.set_max_parallel(2);
  if (backfills.max_parallel_per_datasource() == 0) backfills.set_max_parallel_per_datasource(16);
  if (backfills.max_parallel_total() == 0) backfills.set_max_parallel_total(64);
  if (!backfills.has_waiting_deadline()) Set(backfills.mutable_waiting_deadline(), 30 * kMinute);
  if (!backfills.has_run_deadline()) Set(backfills.mutable_run_deadline(), 6 * kHour);
  if (!backfills.has_poll_interval()) Set(backfills.mutable_poll_interval(), 1);
  if (!backfills.has_settle_time()) Set(backfills.mutable_settle_time(), 2);
  if (!backfills.has_rollback_window()) Set(backfills.mutable_rollback_window(), 24 * kHour);
  if (!backfills.has_max_pause()) Set(backfills.mutable_max_pause(), 10 * kMinute);
  if (!backfills.has_lease_ttl()) Set(backfills.mutable_lease_ttl(), 10 * kMinute);
  if (!backfills.has_gather()) Set(backfills.mutable_gather(), kMinute);
}

void FillDrops(config::v1::Drops& drops) {
  if (!drops.has_min_window()) Set(drops.mutable_min_window(), kHour);
  if (!drops.has_default_window()) Set(drops.mutable_default_window(), 72 * kHour);
  if (!drops.has_max_window()) Set(drops.mutable_max_window(), 365 * kDay);
  if (!drops.has_floor()) Set(drops.mutable_floor(), 14 * kDay);
  if (!drops.has_settle_time()) Set(drops.mutable_settle_time(), 2);
  if (drops.max_segments_per_kill() == 0) drops.set_max_segments_per_kill(1'000);
  if (!drops.has_kill_deadline()) Set(drops.mutable_kill_deadline(), 10 * kMinute);
  if (!drops.has_max_clock_skew()) Set(drops.mutable_max_clock_skew(), 5);
  if (!drops.has_recheck_every()) Set(drops.mutable_recheck_every(), 10 * kMinute);
  if (!drops.has_restore_proof_deadline()) {
    Set(drops.mutable_restore_proof_deadline(), 30 * kMinute);
  }
  if (!drops.has_kill_spacing()) Set(drops.mutable_kill_spacing(), 1);
  if (!drops.has_kill_run_deadline()) Set(drops.mutable_kill_run_deadline(), 2 * kHour);
}

void FillStreams(config::v1::Streams& streams) {
  if (!streams.has_poll_interval()) Set(streams.mutable_poll_interval(), 5);
  if (!streams.has_check_append_valid_for()) Set(streams.mutable_check_append_valid_for(), 10);
}

void FillLog(config::v1::Log& log) {
  if (log.level() == config::v1::Log::LEVEL_UNSPECIFIED) log.set_level(config::v1::Log::LEVEL_INFO);
  if (log.format() == config::v1::Log::FORMAT_UNSPECIFIED) log.set_format(config::v1::Log::JSON);
}

}  // namespace

void FillDefaults(config::v1::ServerConfig& config) {
  FillListen(*config.mutable_listen());
  if (config.has_store()) FillStore(*config.mutable_store());
  FillDruid(*config.mutable_druid());
  FillLimits(*config.mutable_limits());
  FillBackfills(*config.mutable_backfills());
  auto& verification = *config.mutable_verification();
  if (!verification.has_grace()) Set(verification.mutable_grace(), kHour);
  if (!verification.has_sweep_interval()) Set(verification.mutable_sweep_interval(), 15 * kMinute);
  if (verification.sweep_requests_per_second() == 0) verification.set_sweep_requests_per_second(5);
  FillDrops(*config.mutable_drops());
  FillStreams(*config.mutable_streams());
  FillLog(*config.mutable_log());
  auto& retention = *config.mutable_retention();
  if (!retention.has_request_ids()) Set(retention.mutable_request_ids(), kDay);
  if (!retention.has_reservations()) Set(retention.mutable_reservations(), 30 * kDay);
  if (!retention.has_events()) Set(retention.mutable_events(), kHour);
}

}  // namespace interlock::server
