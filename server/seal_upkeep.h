// What seals need done: their content looked at, unseals that are over sealed again,
// policies applied, corrections compared once their backfill is proven. Steps of lib/work.
//
// Threads: steps run on the loop's threads, each seal and backfill on one at a time.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/backfill/backfills.h"
#include "lib/druid/cluster.h"
#include "lib/seal/corrections.h"
#include "lib/seal/seals.h"
#include "lib/store/store.h"
#include "lib/work/loop.h"
#include "prometheus/gauge.h"
#include "prometheus/registry.h"

namespace interlock::server {

class SealUpkeep {
 public:
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    backfill::Backfills& backfills;
    seal::Seals& seals;
    seal::Corrections& corrections;
    std::function<void()> wake;
  };
  struct Times {
    absl::Duration look = absl::Minutes(15);     // between two looks at one seal
    absl::Duration policies = absl::Hours(1);    // between two passes
    absl::Duration backfill = absl::Seconds(2);  // between two looks at a correction's backfill
  };
  // All must outlive it. `registry` gets interlock_broken_seals{datasource}: seals whose
  // content is not what was sealed.
  SealUpkeep(World world, Times times, prometheus::Registry& registry);

  void Handle(work::Loop& loop);
  // Makes due whatever may have been left behind; call once the store is open.
  absl::Status Schedule();

  absl::Status LookAt(const std::string& seal_id, Instant due);
  absl::Status ApplyPolicies();
  absl::Status Follow(const seal::Correcting& correcting);

 private:
  absl::StatusOr<work::Outcome> Look(const work::Claim& claim);
  absl::StatusOr<work::Outcome> Policies(const work::Claim& claim);
  absl::StatusOr<work::Outcome> Correct(const work::Claim& claim);
  absl::Status SealBy(const seal::SealRequest& request);
  absl::Status CountBroken();
  absl::Status Due(const char* kind, const std::string& key, Instant due);

  const World world_;
  const Times times_;
  prometheus::Family<prometheus::Gauge>& broken_;
};

// Labels of a backfill that runs as a correction: what it corrects, and by which job.
inline constexpr char kCorrectsLabel[] = "interlock.corrects";
inline constexpr char kJobLabel[] = "interlock.job";

}  // namespace interlock::server
