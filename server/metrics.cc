#include "server/metrics.h"

#include <utility>

#include "server/version.h"

namespace interlock::server {
namespace {

constexpr double kCallSeconds = 100;  // an exchange with Druid, a reservation
constexpr double kPartitionSeconds = 10'000;

template <class Family>
auto& Add(prometheus::Registry& registry, const Family& build, const char* name, const char* help) {
  return build().Name(std::string("interlock_") + name).Help(help).Register(registry);
}

prometheus::Family<prometheus::Gauge>& GaugeFamily(prometheus::Registry& registry, const char* name,
                                                   const char* help) {
  return Add(registry, prometheus::BuildGauge, name, help);
}
prometheus::Family<prometheus::Counter>& CounterFamily(prometheus::Registry& registry,
                                                       const char* name, const char* help) {
  return Add(registry, prometheus::BuildCounter, name, help);
}
prometheus::Family<prometheus::Histogram>& HistogramFamily(prometheus::Registry& registry,
                                                           const char* name, const char* help) {
  return Add(registry, prometheus::BuildHistogram, name, help);
}

}  // namespace

prometheus::Histogram::BucketBoundaries SecondsUpTo(double longest) {
  prometheus::Histogram::BucketBoundaries bounds;
  for (double decade = 0.0001; decade < longest; decade *= 10) {
    for (const double bound : {decade, decade * 2.5, decade * 5}) {
      if (bound < longest) bounds.push_back(bound);  // they must rise to the last one
    }
  }
  bounds.push_back(longest);
  return bounds;
}

Metrics::Metrics() : Metrics(std::make_shared<prometheus::Registry>()) {}

Metrics::Metrics(std::shared_ptr<prometheus::Registry> registry)
    : double_version_intervals(GaugeFamily(
          *registry, "double_version_intervals",
          "Intervals in which queries, or used segments past their grace, show two versions")),
      duplicate_row_partitions(GaugeFamily(*registry, "duplicate_row_partitions",
                                           "Partitions whose rows are there twice")),
      unavailable_segments(GaugeFamily(*registry, "unavailable_segments",
                                       "Used, visible segments that nobody serves")),
      sweep_age_seconds(GaugeFamily(*registry, "sweep_age_seconds",
                                    "Time since all of a datasource was last looked at")),
      findings(GaugeFamily(*registry, "findings", "Open findings by verdict or kind")),
      finding_age_seconds(
          GaugeFamily(*registry, "finding_age_seconds", "Age of the oldest open finding")),
      foreign_writes(CounterFamily(*registry, "foreign_writes_total",
                                   "Writes of others that were found in reserved or proven time")),
      foreign_drops(CounterFamily(*registry, "foreign_drops_total",
                                  "Drops that somebody else interfered with")),
      reservations(GaugeFamily(*registry, "reservations", "Reservations that block others")),
      lease_near_expiry(GaugeFamily(*registry, "lease_near_expiry",
                                    "Leases of which less than a quarter is left, unrenewed")),
      backfill_partitions(
          GaugeFamily(*registry, "backfill_partitions", "Partitions of backfills by state")),
      drops(GaugeFamily(*registry, "drops", "Drops by state")),
      kill_failures(
          CounterFamily(*registry, "kill_failures_total", "Kill tasks that failed, by reason")),
      druid_requests(
          CounterFamily(*registry, "druid_requests_total", "Requests to Druid by outcome")),
      druid_request_seconds(
          HistogramFamily(*registry, "druid_request_seconds", "Time of requests to Druid")),
      stream_tail_start_seconds(
          GaugeFamily(*registry, "stream_tail_start_seconds",
                      "From when on a stream may still write, since 1970; absent without a bound")),
      stream_up(GaugeFamily(*registry, "stream_up", "A supervisor is there, and healthy")),
      stream_suspended(GaugeFamily(*registry, "stream_suspended", "A supervisor is suspended")),
      stream_lag(GaugeFamily(*registry, "stream_lag", "Messages that a supervisor is behind")),
      stream_thrown_away_rows(GaugeFamily(*registry, "stream_thrown_away_rows",
                                          "Rows that a stream threw away since first seen")),
      handover_seconds(HistogramFamily(*registry, "handover_seconds",
                                       "Pauses of streams by handovers that are over")),
      druid_up(GaugeFamily(*registry, "druid_up", "1 where the service answers, else 0")),
      reservation_requests(CounterFamily(*registry, "reservation_requests_total",
                                         "ReserveInterval calls by result")),
      calls(CounterFamily(*registry, "calls_total", "gRPC calls by method and code")),
      store_notices(CounterFamily(*registry, "store_notices_total",
                                  "What people should know of the store: a restored file, a"
                                  " fail-over, replication")),
      reservation_latency_seconds(
          HistogramFamily(*registry, "reservation_latency_seconds",
                          "Time of ReserveInterval, from the call to the durable grant")
              .Add({}, SecondsUpTo(kCallSeconds))),
      backfill_partition_seconds(
          HistogramFamily(*registry, "backfill_partition_seconds",
                          "From a partition's attempt, as its task was about to be posted, to its"
                          " proof")
              .Add({}, SecondsUpTo(kPartitionSeconds))),
      store_commit_seconds(
          HistogramFamily(*registry, "store_commit_seconds", "Time of a commit of the store")
              .Add({}, SecondsUpTo(kCallSeconds))),
      store_batch_size(
          HistogramFamily(*registry, "store_batch_size", "Writes that were committed together")
              .Add({}, prometheus::Histogram::BucketBoundaries{1, 2, 4, 8, 16, 32, 64, 128, 256,
                                                               512, 1024})),
      store_up(GaugeFamily(*registry, "store_up", "1 while the store commits, else 0").Add({})),
      store_synchronous(
          GaugeFamily(*registry, "store_synchronous",
                      "1 while a standby confirms each commit of a shared store, 0 while none"
                      " does, -1 where that can't be seen or the store is a file")
              .Add({})),
      clock_jumps(
          CounterFamily(*registry, "clock_jump_total", "Steps of the wall clock seen").Add({})),
      registry_(std::move(registry)) {
  GaugeFamily(*registry_, "build_info", "1, with the version as a label")
      .Add({{"version", kVersion}})
      .Set(1);
  store_up.Set(1);
}

}  // namespace interlock::server
