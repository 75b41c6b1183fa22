// Segments and snapshots for tests, in few words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/druid/observation.h"
#include "lib/druid/segment.h"
#include "lib/verify/verdict.h"

namespace interlock::verify {

inline Interval Of(const std::string& text) { return *Interval::Parse(text); }
inline Instant At(const std::string& text) { return *Instant::Parse(text); }

inline druid::Segment Numbered(const std::string& interval, const std::string& version,
                               int partition, int core, int64_t size = 10'000) {
  druid::Segment segment;
  segment.datasource = "events";
  segment.interval = Of(interval);
  segment.version = version;
  segment.shard = {"numbered", partition, core, true};
  // Different sizes unless a test wants them equal: real segments hardly ever are.
  segment.size_bytes = size + (size == 10'000 ? partition : 0);
  segment.id = "events_" + segment.interval.start().ToString() + "_" +
               segment.interval.end().ToString() + "_" + version +
               (partition == 0 ? "" : "_" + std::to_string(partition));
  return segment;
}

inline druid::Segment Tombstone(const std::string& interval, const std::string& version) {
  druid::Segment segment = Numbered(interval, version, 0, 0, 1);
  segment.shard.type = "tombstone";
  return segment;
}

inline druid::Snapshot SnapshotOf(const std::string& interval,
                                  std::vector<druid::Segment> segments) {
  druid::Snapshot snapshot;
  snapshot.datasource = "events";
  snapshot.interval = Of(interval);
  snapshot.surroundings = snapshot.interval;
  snapshot.load.any_used = !segments.empty();
  snapshot.used = std::move(segments);
  snapshot.taken = At("2026-07-16T15:00:00Z");
  return snapshot;
}

inline druid::RowSums Rows(const std::string& interval, int64_t stored, double events) {
  druid::RowSums sums;
  sums.interval = Of(interval);
  sums.rows = stored;
  sums.sums["events"] = events;
  return sums;
}

inline std::vector<std::string> Names(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings) names.emplace_back(NameOf(finding.verdict));
  return names;
}

}  // namespace interlock::verify
