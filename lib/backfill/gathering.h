// When changes of a derived table's sources are run: gathered for a while, and then once.
//
// The while is counted from the first change, so that a source that changes all the time
// can't put it off for ever; and where a source itself is still being recomputed, its end is
// waited for, so that what comes from it is not computed over a half and then again.
//
// Pure. Threads: values and functions without state.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/backfill/sources.h"
#include "lib/time/granularity.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// How long the end of work on a source is waited for, beyond the gathering.
inline constexpr absl::Duration kLongestWaitForSources = absl::Hours(1);
// Between two looks at what is waited for.
inline constexpr absl::Duration kDerivedLook = absl::Seconds(2);
// Between two looks whether sources changed past every proof (source_drift.h).
inline constexpr absl::Duration kDriftLook = absl::Minutes(5);

// A partition of a source that was proven, accepted or rolled back, or changed otherwise.
struct SourceChange {
  std::string source;  // a source's datasource, or where its corrections are
  Interval interval;
  Instant at;
};

struct Gathered {
  Instant now;
  absl::Duration gather;
  std::vector<SourceChange> changes;  // not run yet
  bool sources_at_work = false;       // a backfill of a source is not over, or is to come
  bool run_open = false;              // an earlier run of this job is not over
};

struct GatherStep {
  enum class Kind { kNothing, kWait, kRun };
  Kind kind = Kind::kNothing;
  Instant until;  // kWait

  bool operator==(const GatherStep& other) const = default;
};

GatherStep NextGather(const Gathered& gathered);

// What is to be recomputed in `derived`'s calendar; condensed. `end`: of running totals.
std::vector<Interval> Affected(const std::vector<Source>& sources,
                               const std::vector<SourceChange>& changes, const Granularity& derived,
                               Instant end);

// The same cut at what is sealed: whole partitions that touch a seal go beside it.
struct SplitBySeals {
  std::vector<Interval> plain, sealed;  // condensed
};
SplitBySeals SplitAtSeals(const std::vector<Interval>& affected, const std::vector<Interval>& seals,
                          const Granularity& derived);

}  // namespace interlock::backfill
