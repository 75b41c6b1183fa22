// What Druid itself may do to the data of a drop meanwhile: its kill duty, retention
// rules, compaction, tasks that hold locks. Said in the plan, since none of it asks us.
//
// Threads: any.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lib/drop/clocks.h"
#include "lib/drop/plan.h"
#include "lib/drop/request.h"
#include "lib/druid/cluster.h"

namespace interlock::drop {

// Adds notes to the plan; and to `refusals` KILL_DUTY_INSIDE_WINDOW where that is not
// accepted. What Druid does not tell is a note, too.
void AddDuties(const DropRequest& request, druid::Cluster& cluster,
               const druid::Capabilities& offered, const Readings& now, Plan& plan,
               std::vector<absl::Status>& refusals);

}  // namespace interlock::drop
