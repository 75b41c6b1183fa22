// The verdict on one partition: versions, completeness, loading and rows.
//
// Pure: a snapshot of Druid and an expectation in, findings out. Threads: functions
// without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/druid/observation.h"
#include "lib/druid/rules.h"
#include "lib/druid/timeline.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/verify/verdict.h"

namespace interlock::verify {

struct PartitionQuestion {
  Interval partition;
  Level level = Level::kServed;
  // The metric of type count whose sum is the number of rows that came in; "" to count
  // stored rows, which is the same only without roll-up.
  std::string count_metric;
  // Nothing to compare with where it is missing.
  std::optional<int64_t> expected_rows;
  std::string expected_from;  // "the task's report", "the caller", for the evidence
  // The version that must be seen; another is somebody else's.
  std::optional<std::string> expected_version;
  Instant now;
  // What was read before this moment proves nothing: the end of the task in question.
  std::optional<Instant> not_before;
  // For how long a hidden version may stay used. Druid's duty needs 15 min and a period.
  absl::Duration grace = absl::Hours(1);
  // The datasource's retention rules; null where they were not read. Not owned.
  const druid::Rules* rules = nullptr;
};

struct PartitionVerdict {
  Interval partition;
  std::vector<Finding> findings;
  std::vector<std::string> visible_versions;  // of what queries read, in order of time
  std::vector<std::string> hidden_versions;   // used, and read by no query
  int64_t visible_segments = 0;               // tombstones among them
  int64_t appended_segments = 0;              // beyond the core of their version
  std::optional<int64_t> rows;                // by the count metric, or stored rows without one
  std::optional<int64_t> stored_rows;         // COUNT(*)

  bool good() const { return IsGood(findings); }
  bool undetermined() const { return IsUndetermined(findings); }
};

// `timeline` is made of `snapshot.used`. Errors: none; what can't be told is a finding.
PartitionVerdict VerifyPartition(const druid::Timeline& timeline, const druid::Snapshot& snapshot,
                                 const PartitionQuestion& question);

// The verdict where Druid gave no usable answer.
PartitionVerdict NothingKnown(const Interval& partition, const std::string& why);

}  // namespace interlock::verify
