// Segments, as tests of drops write them.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "lib/drop/manifest.h"
#include "lib/druid/segment.h"
#include "lib/time/interval.h"

namespace interlock::drop {

inline Instant At(const std::string& text) { return Instant::Parse(text).value(); }
inline Interval Of(const std::string& text) { return Interval::Parse(text).value(); }

inline druid::Segment MakeSegment(const std::string& interval, const std::string& version,
                                  int partition = 0, int core = 1) {
  druid::Segment segment;
  segment.datasource = "clicks";
  segment.interval = Of(interval);
  segment.version = version;
  segment.shard.type = "numbered";
  segment.shard.partition_num = partition;
  segment.shard.core_partitions = core;
  segment.size_bytes = 100;
  segment.id = absl::StrCat("clicks_", segment.interval.start().ToString(), "_",
                            segment.interval.end().ToString(), "_", version,
                            partition == 0 ? "" : absl::StrCat("_", partition));
  segment.load_spec =
      absl::StrCat(R"({"path":"/segments/)", segment.id, R"(/index/","type":"local"})");
  segment.metrics = {"n"};
  return segment;
}

inline druid::UnusedSegment Unused(const druid::Segment& segment, const std::string& since) {
  druid::UnusedSegment unused;
  unused.segment = segment;
  unused.used_status_last_updated = At(since);
  return unused;
}

inline ManifestRow MakeRow(const druid::Segment& segment, Phase phase = Phase::kPlanned) {
  ManifestRow row;
  row.id = segment.id;
  row.interval = segment.interval;
  row.version = segment.version;
  row.partition_num = segment.shard.partition_num;
  row.size_bytes = segment.size_bytes;
  row.load_spec = segment.load_spec;
  row.tombstone = segment.tombstone();
  row.phase = phase;
  return row;
}

inline ManifestRow MarkedRow(const druid::Segment& segment, const std::string& since) {
  ManifestRow row = MakeRow(segment, Phase::kMarked);
  row.unused_at = At(since);
  return row;
}

}  // namespace interlock::drop
