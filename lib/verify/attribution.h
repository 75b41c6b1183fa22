// Whose work is what is seen now? (design: Proving)
//
// A replacing task writes under its lock's version, which is the moment the lock was made.
// So a version is our task's when it is new, lies within the task's life by Druid's own
// clock, is no compaction, and no other task could have made it; or when it is the version
// of the lock that the task was seen to hold. Druid may compact it at once: then a higher,
// compacted version is seen, with the same rows.
//
// Pure. Threads: functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/druid/timeline.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::verify {

struct AttributionQuestion {
  Interval partition;
  // The used segments' ids that overlapped the partition before the task was posted.
  std::vector<std::string> used_before;
  // The task's life by Druid's clock: created, and a moment at which it was over.
  Instant created;
  Instant ended;
  // The version of its lock on this time, where one was seen.
  std::optional<std::string> lock_version;
  // Another top-level task that writes this datasource was seen during that life.
  bool others_seen = false;
};

struct Attribution {
  enum class Kind {
    kOurs,
    kNothingNew,    // what is visible was there before
    kForeign,       // new, and not our task's
    kUnattributed,  // new, and it can't be told whose
  };
  Kind kind = Kind::kUnattributed;
  std::string version;  // the newest that is new and no compaction; "" for kNothingNew
  // A compaction made afterwards, of what our task wrote: what is seen by now; "" if none.
  std::string compacted_as;
  std::string reason;  // in a sentence
};

Attribution Attribute(const druid::Timeline& after, const AttributionQuestion& question);

}  // namespace interlock::verify
