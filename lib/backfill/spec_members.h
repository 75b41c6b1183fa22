// Members that Druid would ignore. Its JSON mapper takes unknown members in silence
// (DefaultObjectMapper: FAIL_ON_UNKNOWN_PROPERTIES is off), so `dropexisting` means what
// a missing dropExisting means. What looks like a member of that place, or is one of
// another place, is a fault; what looks like nothing known is a warning, since newer
// versions and extensions add members.
#pragma once

#include "lib/backfill/spec_node.h"

namespace interlock::backfill {

enum class Place {
  kTask,
  kSpec,
  kDataSchema,
  kGranularitySpec,
  kTimestampSpec,
  kDimensionsSpec,
  kIoConfig,
  kTuningConfig,
  kDynamicPartitions,
  kHashedPartitions,
  kRangePartitions,
  kSingleDimPartitions,
};

void CheckMembers(const Node& object, Place place);

// The one of `known` that `name` is most likely meant to be, or "": equal but for case,
// or at most two letters apart.
std::string LikelyMeant(absl::string_view name, const std::vector<absl::string_view>& known);

}  // namespace interlock::backfill
