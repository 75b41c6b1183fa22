// One look at an interval: reads Druid, and has lib/verify judge what was read. What a call
// that verifies, the sweeper and an explanation all do.
//
// An answer of Druid's that says nothing becomes UNDETERMINED with its reason, never a
// verdict.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/druid/cluster.h"
#include "lib/druid/timeline.h"
#include "lib/sweep/known.h"
#include "lib/time/granularity.h"
#include "lib/verify/partition.h"

namespace interlock::sweep {

// What is expected of one partition.
struct Expectation {
  std::optional<int64_t> rows;  // by the caller
  std::vector<verify::Expected> others;
  std::optional<int64_t> min_rows;
  std::optional<std::string> version;
  bool part_of_total = false;  // verify::PartitionQuestion
};

struct LookQuestion {
  std::string datasource;
  Interval interval;
  // What to judge, within `interval`. Empty: the buckets of the calendar that is there.
  std::vector<Interval> partitions;
  verify::Level level = verify::Level::kServed;
  std::string count_metric;
  std::vector<SumOf> sums;  // beside it
  // Of a partition, out of so many; may be empty.
  std::function<Expectation(const Interval& partition, size_t of)> expected;
  std::string same_as;  // a datasource that must have the same rows; "" for none
  Instant now;
  std::optional<Instant> not_before;
  absl::Duration grace = absl::Hours(1);
  int64_t max_partitions = 10'000;
  // When nothing in a partition was hidden, by an earlier look; may be empty.
  std::function<std::optional<Instant>(const Interval& partition)> none_hidden_at;
  // Whether the coordinator is to poll its metadata before it answers: for the first of looks
  // that wait (apache/druid#9965).
  bool refresh = true;
  // False: no rows are counted, and segments are read once. Two requests in place of five.
  bool thorough = true;
  // Where it is one of many looks that are not thorough: what was asked once for all of them.
  // Null, or nothing: asked here. Not owned.
  const std::string* rules = nullptr;
  std::optional<druid::LoadStatus> load;
};

struct Look {
  std::optional<Granularity> calendar;
  druid::Timeline timeline = druid::Timeline::Of({});
  std::vector<verify::PartitionVerdict> verdicts;
  int64_t unavailable = 0;  // segments that are visible and not served
  std::string neighbours;   // digest of what is visible next door; "" without a calendar
  // Why a sign of duplicates could not be weighed, where Druid gave no answer; "" else.
  std::string not_weighed;
  // Why nothing is known; nothing where Druid answered.
  std::optional<NotTold> not_told;
};

// OUT_OF_RANGE, LIMIT_EXCEEDED for more than `max_partitions`; INVALID_ARGUMENT,
// UNKNOWN_METRIC and METRIC_NOT_NUMERIC (known.h). A datasource that Druid does not know is
// UNDETERMINED, since a list that leaves out what may not be read looks like it.
absl::StatusOr<Look> LookAt(druid::Cluster& cluster, const LookQuestion& question);

}  // namespace interlock::sweep
