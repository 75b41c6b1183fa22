// Derived jobs in the store's tables: which job depends on what, what has changed for it,
// and its runs.
//
// Guarantee: a change is stored in the transaction that stores the proof of it, for every job
// that depends on the datasource then; it goes with the run that ended well, and no other way.
// A change that nobody proved is stored once it is found (source_drift.h).
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/backfill/gathering.h"
#include "lib/backfill/job.h"
#include "lib/backfill/sources.h"
#include "lib/store/store.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// The step's kind in lib/work, whose key is the job's name.
inline constexpr char kDerivedWorkKind[] = "derived";

// Statements of a step of BackfillSchema.
std::vector<std::string> DerivedTables();

// The newest version of a job depends on its sources, and on nothing else any more.
absl::Status PutDependencies(store::Transaction& tx, const Job& job);
absl::StatusOr<std::vector<std::string>> DependentsOf(store::Transaction& tx,
                                                      const std::string& datasource);
// Of the newest versions of all jobs but `but`: each target and what it is derived from.
absl::StatusOr<Derivations> ReadDerivations(store::Transaction& tx, const std::string& but);

// The job's step comes, though nothing has changed yet: to look whether it does.
absl::Status BeginLooking(store::Transaction& tx, const Job& job);

// A partition of `datasource` is not what it was: noted for each job that depends on it, and
// their steps made due.
absl::Status NoteChange(store::Transaction& tx, const std::string& datasource,
                        const Interval& partition);
// The same for one job.
absl::Status NoteChangeFor(store::Transaction& tx, const std::string& job,
                           const std::string& source, const Interval& partition);
// What no run of the job has taken yet, oldest first; with what runs that failed had taken.
absl::StatusOr<std::vector<SourceChange>> ChangesFor(store::Transaction& tx, const std::string& job,
                                                     bool with_failed);

// One run: a backfill over what changes had touched when it was made.
struct DerivedRun {
  int64_t number = 0;
  std::string job;
  int64_t version = 0;
  std::vector<Interval> intervals;
  bool correction = false;  // beside what is sealed
  std::string backfill_id;  // "" until it is submitted
  std::string why;          // for people: what had changed
};
// Gives it its number, and hands it what ChangesFor gives, with that of runs that failed. Of
// two runs over the same changes the second is `shared`: its number is the first's before.
absl::Status MakeRun(store::Transaction& tx, DerivedRun& run, bool shared);
absl::Status NameBackfill(store::Transaction& tx, const DerivedRun& run);
absl::StatusOr<std::vector<DerivedRun>> OpenRuns(store::Transaction& tx, const std::string& job);
// It is over: what it took is run, or else kept for the next one.
absl::Status EndRun(store::Transaction& tx, const DerivedRun& run, bool well);
// It never was: its changes wait again.
absl::Status DissolveRun(store::Transaction& tx, const DerivedRun& run);

// Whether work on one of these is under way, or to come: backfills that are not over, changes
// that wait, runs that are open.
absl::StatusOr<bool> AtWork(store::Transaction& tx, const std::set<std::string>& datasources);
// The end of the last partition that was proven in any of these; Instant::kMin for none.
absl::StatusOr<Instant> LastProven(store::Transaction& tx,
                                   const std::set<std::string>& datasources);
// Partitions within `interval` that were proven; condensed.
absl::StatusOr<std::vector<Interval>> ProvenIn(store::Transaction& tx,
                                               const std::string& datasource,
                                               const Interval& interval);

}  // namespace interlock::backfill
