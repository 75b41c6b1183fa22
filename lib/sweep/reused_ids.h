// Ids of dropped segments that Druid gives to new ones.
//
// Where nothing is used, an append under concurrent locks has the version druid::kAppendVersion.
// If unused segments of that version are there, their numbers are given out again: the task ends
// with SUCCESS, the metadata keeps the old rows, unused, the new rows are seen by nobody, and
// their files stand where the dropped ones stood (measured on 33; apache/druid#18216). After the
// task, nothing in the metadata tells: only its lock does, while it lasts.
//
// Pure. Threads: functions without state.
#pragma once

#include <optional>
#include <vector>

#include "lib/druid/cluster.h"
#include "lib/sweep/findings.h"

namespace interlock::sweep {

// An append that may be given the ids of `unused`, which are those of the lock's interval; nothing
// is used there.
std::optional<Observed> ReusedIds(const druid::TaskLock& lock,
                                  const std::vector<druid::UnusedSegment>& unused);

// The same finding once the task is over, while any of its ids is still unused there.
std::optional<Observed> StillReused(const Observed& was,
                                    const std::vector<druid::UnusedSegment>& unused);

}  // namespace interlock::sweep
