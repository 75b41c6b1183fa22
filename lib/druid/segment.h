// Segments as Druid's metadata lists them (DataSegment.java), reduced to what decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::druid {

struct ShardSpec {
  std::string type;  // "numbered", "hashed", "single", "range", "tombstone", …
  int32_t partition_num = 0;
  // Core partitions of the version: a version is complete when all of 0 … n-1 are there.
  // 0 for appended-only and dynamic sets; partition_num at or beyond it was appended.
  int32_t core_partitions = 0;
  // False for a type that we do not know: nothing may be concluded from it.
  bool known = true;
};

struct Segment {
  std::string id;  // as Druid writes it: DATASOURCE_START_END_VERSION[_PARTITION]
  std::string datasource;
  Interval interval;
  std::string version;  // compared as text, the higher hides the lower
  ShardSpec shard;
  int64_t size_bytes = 0;
  std::string load_spec;  // its JSON, members sorted: equal text is the same file
  std::vector<std::string> metrics;
  bool compacted = false;  // carries a lastCompactionState

  bool tombstone() const { return shard.type == "tombstone"; }
  bool appended() const { return shard.partition_num >= shard.core_partitions && !tombstone(); }
};

// One row of `unusedSegments` (Druid 29 and later).
struct UnusedSegment {
  Segment segment;
  std::optional<Instant> created;
  // When it last turned used or unused: what a kill's maxUsedStatusLastUpdatedTime
  // compares with (inclusive).
  std::optional<Instant> used_status_last_updated;
};

}  // namespace interlock::druid
