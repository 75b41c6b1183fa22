// The page at `/` of the admin port: per datasource, what holds, changed or sealed which of its
// time. From the store alone, so that a Druid that does not answer keeps nobody waiting; it reads
// and never writes.
//
// Threads: functions without state.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/backfill/backfills.h"
#include "lib/drop/drops.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::server {

struct TimelineItem {
  std::string kind;  // "reservation", "tail", "seal", "backfill", "drop", "version"
  Interval interval;
  std::string id;
  std::string state;
  std::string text;  // who, and what for
};

struct Timeline {
  std::vector<std::string> datasources;  // all that the store knows of, by name
  std::string datasource;                // whose items these are; "" for none
  std::vector<TimelineItem> items;       // by kind, then newest first
  bool cut = false;                      // there are more of some kind
  Instant now;
};

// At most so many of a kind are shown.
inline constexpr int64_t kMostOfAKind = 100;

struct TimelineSource {
  store::Store& store;
  const backfill::Backfills& backfills;
  const drop::Drops& drops;
};

absl::StatusOr<Timeline> ReadTimeline(const TimelineSource& source, const std::string& datasource);

// As HTML, without a script and without anything from elsewhere; all text is escaped.
std::string RenderTimeline(const Timeline& timeline);

}  // namespace interlock::server
