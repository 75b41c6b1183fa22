// Druid tasks of others that are at work on a datasource, with the time that they may
// write: a kill waits for them, since one that has no lock yet may be about to get it.
//
// Threads: functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/druid/answer.h"
#include "lib/druid/cluster.h"
#include "lib/time/interval.h"

namespace interlock::drop {

struct RunningTask {
  std::string id;
  std::string type;
  // All intervals that its payload names, condensed; nothing where it names none.
  std::optional<std::vector<Interval>> intervals;
};

// More are not looked into, and count as tasks that do not say where they write.
inline constexpr size_t kMostTasksRead = 100;

// Top-level batch tasks, kills of others included. Streaming tasks are left out: they lock
// each partition from its first row on, so their locks tell all (druid-measured 2d).
druid::Answer<std::vector<RunningTask>> ListRunningTasks(const std::string& datasource,
                                                         druid::Cluster& cluster);

// Every interval that stands anywhere in a payload, condensed.
std::vector<Interval> IntervalsIn(const std::string& json);

}  // namespace interlock::drop
