// What Druid makes of rows that are appended under concurrent locks (measured on a real one;
// TaskLockType.java): they join the version of whoever replaces, and have none of their own
// but where nothing was.
#pragma once

#include "lib/druid/task.h"

namespace interlock::druid {

// The version of what is appended where nothing was: the lowest there is, and never that of a
// task that replaces.
inline constexpr char kAppendVersion[] = "1970-01-01T00:00:00.000Z";

// Its task appends: no version will be its own.
inline bool Appends(const TaskLock& lock) { return lock.type == "APPEND"; }

}  // namespace interlock::druid
