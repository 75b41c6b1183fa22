// Looks at every datasource again and again, and keeps what it finds (findings.h).
//
// Two kinds of steps of lib/work: one lists the datasources, and one for each of them sweeps
// it. Replicas share them by claims: whoever claims a datasource sweeps it, once a round.
// Those that streams write come first in a round; the rest is spread over a part of it.
//
// A sweep walks a datasource page by page. What has the ids that this process saw quiet in
// an earlier sweep is not read again: loading is asked of the whole. A page that Druid gave
// no answer for leaves the sweep unfinished: its age grows (sweep_age_seconds), and the step
// comes again soon.
//
// Load on Druid: two requests a page beside four a sweep, and those that weigh a sign of
// duplicates; their rate is bounded by whoever makes the cluster (paced_transport.h).
//
// Threads: Step from any, at once for different claims.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/sweep/findings.h"
#include "lib/sweep/look.h"
#include "lib/sweep/page_memory.h"
#include "lib/sweep/pages.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"
#include "lib/work/loop.h"
#include "lib/work/steps.h"

namespace interlock::sweep {

// The steps' kinds in lib/work; the key of the second is the datasource.
inline constexpr char kListKind[] = "sweep_list";
inline constexpr char kSweepKind[] = "sweep";

struct SweeperOptions {
  absl::Duration every = absl::Minutes(15);  // of one datasource
  // With `*` for any characters; empty: all.
  std::vector<std::string> datasources;
  absl::Duration grace = absl::Hours(1);
  // Segments of a page: about 4 MB of Druid's reply.
  int64_t page_segments = 5'000;
  // A version further in the future than this is a clock's fault (apache/druid#15283).
  absl::Duration clock_skew = absl::Minutes(5);
  uint64_t jitter_seed = 1;
  // Of findings that this process opened; may be empty.
  std::function<void(const Finding& finding)> on_open;
  // Whether a drop still is under way: what concerns one that is not is closed.
  std::function<bool(const std::string& drop_id)> drop_is_live;
};

class Sweeper {
 public:
  // All must outlive it.
  Sweeper(store::Store& store, druid::Cluster& cluster, const Clock& clock, SweeperOptions options);

  // Makes the list of datasources due; again is no harm.
  absl::Status Begin();
  // Of both kinds. An error: the step comes again, later each time.
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  struct Walk;
  // What a look found, and of what it speaks.
  struct Seen {
    Scope scope;
    std::vector<Observed> observed;
  };

  absl::StatusOr<work::Outcome> ListDatasources();
  absl::StatusOr<work::Outcome> Sweep(work::Claim& claim);
  bool IsGone(const std::string& datasource);
  absl::Status SweepPages(Walk& walk, const std::vector<Page>& pages);
  LookQuestion AboutPage(const Walk& walk, const Page& page);
  absl::Status SweepPage(Walk& walk, const Page& page, const Look& look);
  absl::Status LookAgain(Walk& walk, const Finding& finding);
  absl::Status LookAtLeftovers(Walk& walk);
  absl::Status LookForForeignWriters(Walk& walk);
  absl::Status LookForReusedIds(Walk& walk, const std::vector<druid::TaskLock>& locks);
  // All of it in one transaction.
  absl::Status Keep(Walk& walk, const std::vector<Seen>& all);
  absl::StatusOr<work::Outcome> End(Walk& walk);
  bool IsWanted(const std::string& datasource) const;
  absl::Duration Jitter(absl::Duration most) INTERLOCK_EXCLUDES(mutex_);

  store::Store& store_;
  druid::Cluster& cluster_;
  const Clock& clock_;
  const SweeperOptions options_;
  Mutex mutex_;
  uint64_t random_ INTERLOCK_GUARDED_BY(mutex_);
  PageMemory memory_;
};

// `*` stands for any characters.
bool MatchesPattern(absl::string_view pattern, absl::string_view name);

// What a look saw that is to be kept as findings: what is a fault, and no matter of the
// caller's own expectation alone.
std::vector<Observed> ToKeep(const Look& look);
// The scope of a look, for Record.
Scope ScopeOf(const std::string& datasource, const Interval& looked_at, const Look& look);

}  // namespace interlock::sweep
