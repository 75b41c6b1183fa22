#include "lib/simulator/traits.h"

#include "absl/strings/str_cat.h"

namespace interlock::simulator {

absl::StatusOr<Traits> TraitsOf(absl::string_view version) {
  Traits traits;
  traits.version = std::string(version);
  if (version == "28.0.0") {
    traits.locked_intervals_v1 = true;
    traits.kill_marks_unused = true;
    traits.tombstone_core_partitions = 1;
    return traits;
  }
  if (version == "33.0.0") {
    traits.overlord_marks = true;
    traits.marks_count_changes = true;
    traits.marks_honour_versions = true;
    traits.mark_used_answers_500 = true;
    traits.unused_segments_list = true;
    traits.active_locks = true;
    traits.druid_exceptions = true;
    traits.kill_bounds = true;
    return traits;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no simulation of Druid ", version, "; there are 28.0.0 and 33.0.0"));
}

}  // namespace interlock::simulator
