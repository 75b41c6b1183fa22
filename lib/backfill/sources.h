// Where a derived table comes from, as its job says it: which datasources it reads, how a
// changed interval of one maps to its own partitions, and which values are read where a
// source is sealed and corrected.
//
// A derived table is recomputed in whole partitions, never added to: what is added twice, or
// added before a backfill changed what it came from, stays wrong for ever.
//
// Pure. Threads: values and functions without state.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/time/granularity.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

inline constexpr size_t kMaxSources = 16;  // of one job

struct Source {
  enum class Mapping {
    kSame,       // the calendars are the same
    kCovering,   // a roll-up: the partitions here that cover what has changed
    kFromStart,  // a running total: everything from there on
  };
  enum class Reads {
    kLive,       // what the datasource has: what was given out
    kCorrected,  // corrected partitions in place of what was given out
  };
  std::string datasource;
  Mapping mapping = Mapping::kSame;
  Reads reads = Reads::kLive;
  std::optional<Instant> origin;       // kFromStart: where the running total begins
  std::string corrections_datasource;  // kCorrected: where corrected partitions are

  bool operator==(const Source& other) const = default;
};

// What a unit of the derived table reads of a source.
Interval ReadBy(const Source& source, const Interval& unit);

// Partitions here that are to be recomputed when `changed` (of this source) has changed;
// condensed. A running total ends with `end`: the last that is there, or is to be.
std::vector<Interval> TouchedBy(const Source& source, const Interval& changed,
                                const Granularity& derived, Instant end);

// Of every job that has sources: its target → what that is derived from.
using Derivations = std::map<std::string, std::set<std::string>>;
// The way from `target` back to itself through what its sources are derived from, as
// "a ← b ← a"; "" where there is none.
std::string CycleFrom(const Derivations& derivations, const std::string& target);
// All that `target` is derived from, through any number of steps.
std::set<std::string> AncestorsOf(const Derivations& derivations, const std::string& target);

// What a task reads of one source, decided before it is posted, and compared when its effect
// is proven.
struct SourceRead {
  std::string datasource;
  Interval interval;
  std::string corrections_datasource;  // "" where live data alone is read
  std::vector<Interval> corrected;     // read there instead; condensed, within `interval`
  int64_t segments = 0;                // visible ones, of both
  std::string digest;                  // of their ids
  std::vector<std::string> ids;        // the first kMaxKeptIds of them
};
inline constexpr size_t kMaxKeptIds = 1'000;

std::string ToJson(const std::vector<Source>& sources);
std::vector<Source> SourcesFrom(const std::string& json);

// SOURCE_INVALID (INVALID_ARGUMENT) with every fault, of a job whose work is `work` (a query
// where `sql`), in `derived`'s calendar; OK without sources.
absl::Status CheckSources(const std::vector<Source>& sources, const std::string& work, bool sql);

}  // namespace interlock::backfill
