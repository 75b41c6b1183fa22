// What differs between the Druid versions that the simulator can speak as. Each field
// names a measured difference; everything else is the same in all of them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace interlock::simulator {

struct Traits {
  std::string version;
  bool overlord_marks = false;         // /druid/indexer/v1/datasources/DS/…: 32+
  bool marks_count_changes = false;    // 32+: changed ones, and segmentStateChanged beside it
  bool marks_honour_versions = false;  // `versions` in a mark's body; before: ignored
  bool mark_used_answers_500 = false;  // 32, 33: without Accept, and on the coordinator ever
  bool unused_segments_list = false;
  bool active_locks = false;
  bool locked_intervals_v1 = false;
  bool druid_exceptions = false;      // "already exists" as a DruidException
  bool kill_bounds = false;           // versions and maxUsedStatusLastUpdatedTime
  bool kill_marks_unused = false;     // markAsUnused is obeyed
  int tombstone_core_partitions = 0;  // "partitions" of a tombstone's shard spec
};

// INVALID_ARGUMENT for a version that was not measured.
absl::StatusOr<Traits> TraitsOf(absl::string_view version);

}  // namespace interlock::simulator
