// What a drop would do, worked out from a listing of the used segments before anything
// is changed.
//
// Threads: values and functions without state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/drop/check.h"
#include "lib/drop/manifest.h"
#include "lib/druid/segment.h"
#include "lib/druid/task.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::drop {

// A stretch of time and the version that is, or would be, seen there.
struct Stretch {
  Interval interval;
  std::string version;
  bool tombstone = false;

  bool operator==(const Stretch& other) const = default;
};

// Something that the caller should know although the plan can be carried out.
struct Note {
  std::string reason;
  std::string text;
};

// Rows and sums of what queries see in one interval.
using Sums = std::vector<druid::RowSums>;

struct Plan {
  std::string datasource;
  std::vector<Interval> intervals;  // condensed
  // In the order of marking; then what is only partly covered, as kStays.
  Manifest manifest;
  // What becomes visible underneath when only this goes: a surprise to most.
  std::vector<Stretch> reveals;
  // Time that has rows now and would have no version at all (case 127: whoever means to
  // replace data should not drop it first).
  std::vector<Interval> leaves_empty;
  // What stands in the way of asking for it; Submit refuses with them.
  std::vector<Objection> blockers;
  std::vector<Note> notes;
  // Nothing where the broker could not be asked: the proof of a restore then lacks them.
  std::optional<Sums> sums;
  // The metrics that `sums` has.
  std::vector<std::string> metrics;
  Instant window_end;  // if it were marked now
  absl::Duration window, floor;

  // Of what is to be marked:
  int64_t visible_count() const;
  int64_t hidden_count() const;
  int64_t size_bytes() const;
  std::vector<std::string> versions() const;
  std::vector<ManifestRow> doomed() const;
  std::vector<ManifestRow> stays() const;
  std::optional<int64_t> row_count() const;
  // Where its rows are counted: the time of what is visible and goes, not all that was asked,
  // since what others write beside it is none of the drop's. (In more than 100 stretches: all
  // that was asked.)
  std::vector<Interval> counted() const;
  // Digest of the ids: the plan's revision and the manifest's digest.
  std::string digest() const;
};

// The part that follows from the segments alone. `used` are all that overlap `intervals`.
Plan PlanFrom(const std::string& datasource, const std::vector<Interval>& intervals,
              const std::vector<druid::Segment>& used);

// Digest over the ids of what a manifest means to mark, in whatever order they come.
std::string ManifestDigest(const Manifest& rows);

}  // namespace interlock::drop
