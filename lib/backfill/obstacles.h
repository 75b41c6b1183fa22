// What stands in the way of a task in Druid itself: locks that are not ours.
//
// Threads: functions without state.
#pragma once

#include <string>

#include "lib/druid/task.h"

namespace interlock::backfill {

// Druid's default for batch tasks; a lower one is pre-empted by them, compaction (25) so.
inline constexpr int64_t kBatchPriority = 50;

// Whether a task of batch priority would have to wait for this lock. Where a version tells
// only where locks are, each does.
bool LockBlocks(const druid::TaskLock& lock);
std::string DescribeLock(const druid::TaskLock& lock);

}  // namespace interlock::backfill
