// The verdict on one partition: versions, completeness, loading and rows.
//
// Pure: a snapshot of Druid and an expectation in, findings out. Threads: functions
// without state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/druid/observation.h"
#include "lib/druid/rules.h"
#include "lib/druid/timeline.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/verify/rows.h"
#include "lib/verify/verdict.h"

namespace interlock::verify {

struct PartitionQuestion {
  Interval partition;
  Level level = Level::kServed;
  // The metric of type count whose sum is the number of rows that came in; "" to count
  // stored rows, which is the same only without roll-up.
  std::string count_metric;
  // False: the segments that are seen here have no such column, whose sum is 0 then.
  bool count_metric_is_there = true;
  // Nothing to compare with where all of these are missing.
  std::optional<int64_t> expected_rows;
  std::string expected_from;  // "the task's report", "the caller", for the evidence
  std::vector<Expected> expected;
  std::optional<int64_t> min_rows;
  // Something is expected of all partitions together (JudgeTotal): it has to be counted
  // here, and says nothing of this one alone.
  bool part_of_total = false;
  // The version that must be seen; another is somebody else's.
  std::optional<std::string> expected_version;
  Instant now;
  // What was read before this moment proves nothing: the end of the task in question.
  std::optional<Instant> not_before;
  // For how long a hidden version may stay used. Druid's duty needs 15 min and a period.
  absl::Duration grace = absl::Hours(1);
  // When nothing here was hidden, by an earlier look: what is hidden now is so since then. A
  // version alone is as old as its task's lock, and a task may take hours to publish.
  std::optional<Instant> none_hidden_at;
  // Of the segments that are seen here, how many are not loaded. Without it those of the whole
  // snapshot are everybody's.
  std::optional<int64_t> unloaded;
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
  std::map<std::string, double> sums;         // of the metrics that were asked for
  std::vector<RowCheck> checks;               // rows, and what they were compared with
  bool rolled_up = false;                     // where that was asked
  // Rows that streams serve and have not published, where that was asked and there are some.
  std::optional<int64_t> unpublished_rows;
  // Visible ones that are not loaded; nothing where that was not asked.
  std::optional<int64_t> unloaded_segments;

  bool good() const { return IsGood(findings); }
  bool undetermined() const { return IsUndetermined(findings); }
};

// `timeline` is made of `snapshot.used`. Errors: none; what can't be told is a finding.
PartitionVerdict VerifyPartition(const druid::Timeline& timeline, const druid::Snapshot& snapshot,
                                 const PartitionQuestion& question);

// How many of a visible version's segments are loaded: all but what Druid counts as not
// available. Of two versions it does not say which: nothing then.
std::optional<int64_t> LoadedSegments(const PartitionVerdict& verdict, int64_t of_version);

// What was counted holds rows that no published segment has: `published` by the same measure.
// Some of them may be served twice for a while, as they are published under another version
// or number (apache/druid#15813); so that other rows than expected are UNDETERMINED,
// REALTIME_ROWS, until the stream has handed over. So are rows where no published segment has
// any: that is neither EMPTY nor TOMBSTONED.
void TellRealtimeApart(int64_t published, PartitionVerdict* verdict);

// The broker finds no row in segments that have some: it knows another version yet, or none,
// and what it counted is that one's. UNDETERMINED, BROKER_BEHIND.
void TellBrokerBehind(PartitionVerdict* verdict);

// Stored rows were counted, and what is there was rolled up: fewer than expected may be all.
void TellRolledUp(PartitionVerdict* verdict);

// The verdict where Druid gave no usable answer. Without a reason, NO_ANSWER.
PartitionVerdict NothingKnown(const Interval& partition, const std::string& why,
                              const std::string& reason = "", const std::string& next = "");

}  // namespace interlock::verify
