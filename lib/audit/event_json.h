// What an event's before and after say of who and which time. Internal to lib/audit.
#pragma once

#include "lib/audit/audit.h"

namespace interlock::audit {

// Fills `holder` and `intervals` from the members `holder`, `interval` and `intervals` of
// the event's after, or of its before where that has none.
void ReadDetails(RecordedEvent& event);

}  // namespace interlock::audit
