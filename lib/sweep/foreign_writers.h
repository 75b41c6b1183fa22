// Who writes into time that a backfill or a drop under way has reserved, and is neither.
//
// Told by the locks of tasks that are none of Interlock's; and, once such a task is over, by
// the segments of its lock's version that it left there. Where a holder reserves for a task
// of his own, that one can't be told from others: only reservations that have work of
// Interlock's pinned to them count.
//
// Pure. Threads: functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/druid/segment.h"
#include "lib/druid/task.h"
#include "lib/lease/reservation.h"
#include "lib/sweep/findings.h"

namespace interlock::sweep {

std::vector<Observed> ForeignLocks(const std::vector<druid::TaskLock>& locks,
                                   const std::vector<lease::Reservation>& reservations);

// Of a finding whose lock is gone: what its task left, while the time is reserved still.
std::optional<Observed> LeftByForeign(const Observed& writer,
                                      const std::vector<lease::Reservation>& reservations,
                                      const std::vector<druid::Segment>& used);

}  // namespace interlock::sweep
