// One row of the simulated metadata store: a segment, where it stands, what it holds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "lib/simulator/rows.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

// A moment of the process's monotonic clock: events are due by it, whatever the wall
// clock does. Druid's own times (Instant) are made of the wall clock.
using Moment = std::chrono::milliseconds;

struct Segment {
  std::string id;
  std::string datasource;
  Interval interval;
  std::string version;
  int partition = 0;
  int core_partitions = 0;
  bool tombstone = false;
  std::string shard_json;
  std::string load_spec_json;
  std::string file;        // in deep storage; "" if there is none
  std::string dimensions;  // comma-joined, as Druid prints them
  std::string metrics;
  int64_t size = 0;
  std::shared_ptr<const RowSet> rows;

  bool used = true;
  Instant created;
  Instant status_updated;  // usedStatusLastUpdatedDate

  // The historicals' side.
  bool announced = false;  // queries see it
  std::optional<Moment> load_due;
  std::optional<Moment> drop_due;
};

// DATASOURCE_START_END_VERSION, and _PARTITION where that is not 0.
std::string SegmentId(const std::string& datasource, const Interval& interval,
                      const std::string& version, int partition);

// Whether the text is such an id of the datasource.
bool IsSegmentId(const std::string& datasource, absl::string_view id);

// Druid's DataSegment as JSON.
std::string ToJson(const Segment& segment);

}  // namespace interlock::simulator
