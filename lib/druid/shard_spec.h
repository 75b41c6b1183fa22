// Which part of its time chunk a segment is, from the shardSpec of its metadata
// (apache/druid, processing/…/timeline/partition/*ShardSpec.java).
//
// Threads: functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/druid/segment.h"

namespace interlock::druid {

// The members of a shardSpec that decide, as they stood there.
struct ShardFields {
  std::string type;
  std::optional<int32_t> partition_num;
  std::optional<int32_t> partitions;           // numbered, hashed, tombstone
  std::optional<int32_t> num_core_partitions;  // single, range
};

// `known` is false for a type whose completeness we can't tell: those that are no
// published segment's (building_*, bucket_*), numbered_overwrite (segment locking, which
// hides single partitions within one version), single and range as Druid before 0.21
// wrote them (complete by their key ranges alone), and whatever is new.
ShardSpec MakeShardSpec(const ShardFields& fields);

}  // namespace interlock::druid
