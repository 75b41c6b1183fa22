// The worker of derived jobs: what has changed in a job's sources is gathered, and the
// partitions that come from it are recomputed, whole, by one backfill of the job.
//
// Guarantees: a change that was proven is run, whatever crashes: it waits in the store until
// a run over it is DONE. Each set of changes makes one backfill (two where a part is sealed:
// that part runs as a correction, which goes beside what was given out), under a request id
// that is the run's own, so that a step that is done twice submits once. Nothing is held
// across datasources: whether a source changed under a run is found by the segment ids that
// its attempts compare; whether it changed later by others' doing, by the same ids, every few
// minutes. What comes from rows that are gone is not computed anew: it would be wrong.
//
// Threads: Step from any thread; one job's steps one at a time (lib/work).
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/derived_rows.h"
#include "lib/backfill/source_drift.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/work/loop.h"
#include "lib/work/steps.h"

namespace interlock::backfill {

class DerivedWorker {
 public:
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    Backfills& backfills;
    // Seals that bar any of `interval`, by their intervals.
    std::function<absl::StatusOr<std::vector<Interval>>(
        store::Transaction& tx, const std::string& datasource, const Interval& interval)>
        seals;
    // Submits beside what is sealed.
    std::function<absl::StatusOr<Backfills::Submitted>(const BackfillRequest& request,
                                                       const audit::Caller& caller)>
        correct;
  };
  // All of `world` must outlive this. `gather`: of jobs that do not say.
  DerivedWorker(World world, absl::Duration gather) : world_(std::move(world)), gather_(gather) {}

  // For work::Loop::Handle(kDerivedWorkKind, …).
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  struct Look {
    Job job;
    Gathered gathered;
    std::vector<DerivedRun> open;
  };
  absl::StatusOr<Look> LookAt(const std::string& job) const;
  absl::Status Follow(const DerivedRun& run);
  // What a person has mended of runs that ended badly counts as run.
  absl::Status TakeMended(const std::string& job);
  absl::Status Submit(DerivedRun run);
  absl::StatusOr<Instant> EndOfTotals(const Job& job,
                                      const std::vector<SourceChange>& changes) const;
  absl::Status MakeRuns(const Job& job);
  // What changed past every proof is noted; true where something is there to be run.
  absl::StatusOr<bool> LookForOthers(const Job& job);
  // The same look, for what is gone: nothing is computed from what is left of it.
  absl::StatusOr<SourceDrift> LookForGone(const Job& job);

  const World world_;
  const absl::Duration gather_;
};

}  // namespace interlock::backfill
