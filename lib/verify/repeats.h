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

// DUPLICATE_ROWS (reasons APPENDED, EQUAL_SIZE), or nothing. From metadata alone.
std::optional<Finding> LookForRepeats(const std::vector<druid::Slice>& slices);

// A segment's rows and sums, as Cluster::SumSegments counts them.
struct SegmentSums {
  const druid::Segment* segment = nullptr;
  druid::RowSums sums;
};

// What the sums of all segments of one version say of a sign that was found there:
// EQUAL_SUMS names the segments that hold the same rows (of which a part counts twice);
// OTHER_SUMS keeps appended rows as a weak sign; nothing where equal sizes were chance.
std::optional<Finding> Weigh(const Finding& sign, const std::vector<SegmentSums>& sums);

}  // namespace interlock::verify
