// What a spec's input holds, looked at before a task reads it where that can be: a replacing
// task without rows says SUCCESS, publishes a tombstone and has wiped the hour.
//
//   inline  rows as JSON lines by their timestamps; of another format, whether there are any
//   druid   what is visible of the datasource that is read
//   local   files that match and are not empty, as seen from here: Druid's workers may see
//           others, so that is only told
//
// Nothing is concluded from what can't be looked at: another source, another format, a
// transform, more than is looked through.
//
// Threads: one object, one thread; asks Druid and blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/backfill/obstacles.h"
#include "lib/backfill/units.h"
#include "lib/druid/cluster.h"
#include "lib/druid/timeline.h"
#include "lib/time/instant.h"

namespace interlock::backfill {

class InputLook {
 public:
  // What the task of `unit` would read of `spec_json` (Spec::json).
  InputLook(druid::Cluster& cluster, const std::string& spec_json, const Unit& unit);

  // INPUT_EMPTY for a partition of the unit that the input holds nothing for; blocking where
  // that is certain. Nothing where there is something, or it is not known.
  std::optional<Obstacle> At(const Interval& partition) const;

 private:
  void LookAtInline(const std::string& data, const std::string& spec_json);
  void LookAtDruid(druid::Cluster& cluster, const std::string& datasource, const Interval& hull);

  std::string what_;  // is read; "" where it is not known
  bool certain_ = true;
  bool nothing_ = false;                      // at all
  std::optional<std::vector<Instant>> rows_;  // by time
  std::optional<druid::Timeline> timeline_;
};

// Files that a local input source names and that are not empty; nothing where the folder is
// not here, or has too many to look through.
std::optional<size_t> CountLocalFiles(const std::string& folder, const std::string& filter);

}  // namespace interlock::backfill
