// Gauges that are read when Prometheus asks: from the store, in one snapshot, and from
// Druid at most every kDruidEvery, beside the scrape and never in its way.
//
// Threads: Update from one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"
#include "server/executor.h"
#include "server/metrics.h"

namespace interlock::server {

class Gauges {
 public:
  static constexpr std::chrono::seconds kDruidEvery{10};

  // All must outlive it.
  Gauges(store::Store& store, druid::Cluster& cluster, Executor& executor, Metrics& metrics);

  void Update();

 private:
  // A gauge of a family, set now; those that were set before and are not this time go to 0:
  // a series that ends looks like one that nobody reports.
  class Refill;

  absl::Status ReadStore(store::Transaction& tx);
  // What the sweeper and verifications have found and not found mended.
  absl::Status ReadSweeps(store::Transaction& tx, Refill& refill);
  absl::Status ReadStreams(store::Transaction& tx, Refill& refill);
  // Rows that the guard finds beside what was proven, since this server started.
  absl::Status CountLateRows(store::Transaction& tx);
  absl::Status ReadHandovers(store::Transaction& tx, Refill& refill);
  // Failures are counted from the store, so that a restart forgets none and every server
  // that shares the store shows the same.
  absl::Status ReadKills(store::Transaction& tx, Refill& refill);
  void AskDruid();

  store::Store& store_;
  druid::Cluster& cluster_;
  Executor& executor_;
  Metrics& metrics_;
  // Of rows that a kill removed: segments whose files are there all the same.
  prometheus::Family<prometheus::Gauge>& orphan_segments_;
  prometheus::Family<prometheus::Gauge>& kill_task_age_seconds_;
  prometheus::Family<prometheus::Gauge>& handover_pause_seconds_;
  std::set<prometheus::Gauge*> set_before_;
  // Foreign writes that the guard found from then on, and how many of them are counted.
  const Instant started_;
  std::map<std::string, int64_t> late_rows_counted_;
  std::atomic<bool> asking_{false};
  std::chrono::steady_clock::time_point asked_;
};

}  // namespace interlock::server
