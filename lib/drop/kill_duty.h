// Druid's own kill duties: they know nothing of our window, so one that would kill inside
// of it makes a drop irreversible earlier than its asker was told.
//
// Threads: functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/druid/cluster.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::drop {

struct KillDuty {
  bool on = false;
  // How long a segment stays after it was marked unused.
  absl::Duration buffer;
  // Only what ends so long before now is taken; zero where that is ignored.
  absl::Duration retain;
  std::vector<std::string> whitelist;  // empty: all datasources
};

// `has_buffer` is whether this Druid knows a buffer at all (28 and later). Nothing where
// a setting cannot be read.
std::optional<KillDuty> ReadKillDuty(const druid::CoordinatorSettings& settings, bool has_buffer);

// Whether it may kill data of that datasource which ends at `end` and is marked at `now`
// before `window` is over.
bool KillsInside(const KillDuty& duty, const std::string& datasource, Instant end, Instant now,
                 absl::Duration window);

}  // namespace interlock::drop
