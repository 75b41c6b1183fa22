// What changed in a derived table's sources past every proof of ours: a task of somebody
// else's, a drop, segments that were marked by hand.
//
// Told by segment ids: what the runs that are in force had read, beside what is there now.
// What replaced it, or was added, is a change like one that was proven, and is recomputed.
// What is gone is not: raw rows are often dropped while what was computed from them stays,
// and a table computed anew from the rest would be wrong. That is a finding.
//
// Where a stream may still write in a source it is not compared: it changes all the time.
//
// Threads: functions without state.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/backfill/job.h"
#include "lib/backfill/sources.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// The finding's kind: a name of Finding.Kind of the API.
inline constexpr char kDerivedStale[] = "DERIVED_STALE";

struct SourceDrift {
  struct Part {
    std::string source;
    Interval interval;
  };
  std::vector<Part> changed;  // as partitions of the derived table
  std::vector<Part> gone;     // was proven to hold something, and nothing is seen there
};

// DRUID_UNAVAILABLE (UNAVAILABLE).
absl::StatusOr<SourceDrift> LookForDrift(store::Store& store, druid::Cluster& cluster,
                                         const Job& job);

// Of `touched` partitions of the job, those that could be computed right: nothing of what
// they read is gone.
std::vector<Interval> Computable(const Job& job, const std::vector<Interval>& touched,
                                 const SourceDrift& drift);

// Opens, updates or closes the finding DERIVED_STALE of the job. A write transaction.
absl::Status ReportGone(store::Transaction& tx, const Job& job, const SourceDrift& drift);

}  // namespace interlock::backfill
