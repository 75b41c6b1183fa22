// The metrics of contract: names, labels and units are an interface that dashboards and
// alerts key on. Counters on the hot path are looked up once and held.
//
// Threads: any.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace interlock::server {

class Metrics {
 public:
  Metrics();

  std::shared_ptr<prometheus::Registry> registry() const { return registry_; }

  // Gauges that are read when scraped are set by their owners just before.
  prometheus::Family<prometheus::Gauge>& double_version_intervals;
  prometheus::Family<prometheus::Gauge>& duplicate_row_partitions;
  prometheus::Family<prometheus::Gauge>& unavailable_segments;       // datasource
  prometheus::Family<prometheus::Gauge>& sweep_age_seconds;          // datasource
  prometheus::Family<prometheus::Gauge>& findings;                   // datasource, kind
  prometheus::Family<prometheus::Gauge>& finding_age_seconds;        // datasource, kind
  prometheus::Family<prometheus::Counter>& foreign_writes;           // datasource
  prometheus::Family<prometheus::Counter>& foreign_drops;            // datasource
  prometheus::Family<prometheus::Gauge>& reservations;               // datasource, mode, state
  prometheus::Family<prometheus::Gauge>& lease_near_expiry;          // datasource
  prometheus::Family<prometheus::Gauge>& backfill_partitions;        // datasource, state
  prometheus::Family<prometheus::Gauge>& drops;                      // datasource, state
  prometheus::Family<prometheus::Counter>& kill_failures;            // datasource, reason
  prometheus::Family<prometheus::Counter>& druid_requests;           // endpoint, result
  prometheus::Family<prometheus::Histogram>& druid_request_seconds;  // endpoint
  prometheus::Family<prometheus::Gauge>& stream_tail_start_seconds;  // datasource, stream
  prometheus::Family<prometheus::Gauge>& stream_up;                  // datasource, stream
  prometheus::Family<prometheus::Gauge>& stream_suspended;           // datasource, stream
  prometheus::Family<prometheus::Gauge>& stream_lag;                 // datasource, stream
  prometheus::Family<prometheus::Gauge>& stream_thrown_away_rows;    // datasource, stream
  prometheus::Family<prometheus::Histogram>& handover_seconds;       // datasource
  prometheus::Family<prometheus::Gauge>& druid_up;                   // service
  prometheus::Family<prometheus::Counter>& reservation_requests;     // result
  prometheus::Family<prometheus::Counter>& calls;                    // method, code
  prometheus::Family<prometheus::Counter>& store_notices;            // reason

  prometheus::Histogram& reservation_latency_seconds;
  prometheus::Histogram& backfill_partition_seconds;
  prometheus::Histogram& store_commit_seconds;
  prometheus::Histogram& store_batch_size;
  prometheus::Gauge& store_up;
  prometheus::Gauge& store_synchronous;
  prometheus::Counter& clock_jumps;

 private:
  explicit Metrics(std::shared_ptr<prometheus::Registry> registry);

  std::shared_ptr<prometheus::Registry> registry_;
};

// Bucket bounds for seconds, from 100 µs to `longest` in steps of about 2.5.
prometheus::Histogram::BucketBoundaries SecondsUpTo(double longest);

}  // namespace interlock::server
