// Rows that are there twice inside one version: the only way in which numbers double, since
// two versions are never summed.
//
// An append that ran again, and a stream that delivers what a backfill also wrote, both
// leave segments at or beyond the core partitions; a sub-task that ran twice leaves two of
// one size. Such signs alone may have another cause (late rows are appended, too), so that
// they have a score; the rows and sums of the single segments then settle most of them.
//
// Pure. Threads: functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/druid/segment.h"
#include "lib/druid/task.h"
#include "lib/druid/timeline.h"
#include "lib/verify/verdict.h"

namespace interlock::verify {

// How sure each sign is.
inline constexpr double kAppendedScore = 0.5;
inline constexpr double kEqualSizeScore = 0.5;
inline constexpr double kBothScore = 0.8;
inline constexpr double kEqualSumsScore = 0.95;
inline constexpr double kOtherSumsScore = 0.3;
// Equal rows and sums of segments that say little: of a few rows, or of nothing but a number of
// rows (two streams' tasks with a heartbeat each, partitions that are cut at so many rows).
inline constexpr double kFewSumsScore = 0.4;

// Summed beside the metrics: equal rows are of equal times.
inline constexpr char kTime[] = "__time";

// DUPLICATE_ROWS (reasons APPENDED, EQUAL_SIZE), or nothing. From metadata alone.
std::optional<Finding> LookForRepeats(const std::vector<druid::Slice>& slices);

// A segment's rows and sums, as Cluster::SumSegments counts them.
struct SegmentSums {
  const druid::Segment* segment = nullptr;
  druid::RowSums sums;
};

// What is to be summed of one version to weigh a sign that was found there: at most so many of
// its segments by themselves, the larger ones first, and where that is not all of them, what
// was replaced and what was appended as two totals.
inline constexpr size_t kMaxWeighed = 32;
struct Weighing {
  std::vector<const druid::Segment*> single;
  std::vector<const druid::Segment*> core, appended;  // empty where `single` is all
};
Weighing ToWeigh(const Finding& sign, const druid::Slice& slice);

// Totals of what was replaced, and of what was appended to it.
struct Totals {
  druid::RowSums core, appended;
  std::vector<std::string> appended_ids;
};

// What the sums of the segments of one version say of a sign that was found there:
// EQUAL_SUMS names the segments that hold the same rows (of which a part counts twice);
// OTHER_SUMS keeps appended rows as a weak sign; nothing where equal sizes were chance.
// Without `totals`, `sums` are those of all segments.
std::optional<Finding> Weigh(const std::vector<SegmentSums>& sums,
                             const std::optional<Totals>& totals = std::nullopt);

}  // namespace interlock::verify
