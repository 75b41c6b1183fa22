// What stands in the way of replacing some time, or is worth knowing about it: what others
// hold, locks of Druid's that are not ours, segments of another calendar, retention rules.
//
// Threads: functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/druid/rules.h"
#include "lib/druid/segment.h"
#include "lib/druid/task.h"
#include "lib/lease/reservation.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

struct Obstacle {
  std::string kind;    // of interlock.v1.Blocker: RESERVATION, DRUID_LOCK, RETENTION_RULE …
  std::string reason;  // stable UPPER_SNAKE
  Interval interval;   // what it covers
  std::string message;
  std::string remedy = {};
  bool blocking = true;    // false: only told
  bool by_stream = false;  // a tail, or the lock of a stream's task
  std::string holder = {}, purpose = {}, reservation_id = {}, task_id = {};
  std::optional<Instant> since = std::nullopt, until = std::nullopt;
  int64_t priority = 0;
};

// Druid's default for batch tasks; a lower one is pre-empted by them, compaction (25) so.
inline constexpr int64_t kBatchPriority = 50;

// Whether a task of batch priority would have to wait for this lock. Where a version tells
// only where locks are, each does.
bool LockBlocks(const druid::TaskLock& lock);
std::string DescribeLock(const druid::TaskLock& lock);

Obstacle ObstacleOf(const lease::Held& held);
Obstacle ObstacleOf(const druid::TaskLock& lock);

// A Druid that can't be asked, or refuses.
Obstacle DruidObstacle(const std::string& reason, const std::string& message,
                       const Interval& interval);
// Rows of a stream that may still come: TAIL, UNBOUNDED_TAIL ….
Obstacle TailObstacle(const std::string& reason, const std::string& message,
                      const Interval& interval);

// A segment that sticks out of the partition and does not contain it: replacing the
// partition would cut a week out of a month, or the other way round. CROSSING_GRANULARITY.
std::optional<Obstacle> CrossingObstacle(const druid::Segment& segment, const Interval& partition);

// A partition that a retention rule would drop, or that none loads: RETENTION_RULE. `now` by
// Druid's clock. Nothing where a rule of an unknown kind comes first.
std::optional<Obstacle> RetentionObstacle(const druid::Rules& rules, const Interval& partition,
                                          Instant now);

}  // namespace interlock::backfill
