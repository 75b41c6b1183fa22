// What speaks against a kill, found just before it: each finding names its subject, so
// that a person can act on it. One finding is enough to stop; all are given.
//
// Threads: functions without state.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/drop/clocks.h"
#include "lib/drop/manifest.h"
#include "lib/drop/running_tasks.h"
#include "lib/druid/task.h"

namespace interlock::drop {

struct Objection {
  std::string reason;   // UPPER_SNAKE, below
  std::string subject;  // a segment id, an interval, a task group
  std::string text;     // one line for people

  bool operator==(const Objection& other) const = default;
};

inline constexpr char kMarkedUsedAgain[] = "MARKED_USED_AGAIN";
inline constexpr char kNewerDataOver[] = "NEWER_DATA";
inline constexpr char kOlderDataUnder[] = "OLDER_DATA";
inline constexpr char kSharedFile[] = "SHARED_FILES";
inline constexpr char kNotOnManifest[] = "NOT_ON_MANIFEST";
inline constexpr char kYoungerThanFloor[] = "YOUNGER_THAN_FLOOR";
inline constexpr char kLocked[] = "LOCKED";
inline constexpr char kRunningTask[] = "RUNNING_TASK";
inline constexpr char kTimeOfMarkUnknown[] = "TIME_OF_MARK_UNKNOWN";

struct CheckInput {
  const Manifest& rows;
  const Sighting& sighting;
  const Look& look;
  const std::vector<druid::TaskLock>& locks;
  const std::vector<RunningTask>& tasks;
  absl::Duration floor;
  Readings now;
};

std::vector<Objection> SpeaksAgainst(const CheckInput& input);

// Files of doomed segments that also stand behind a used one (case 54): a kill of the
// row would be right, but Druids differ in whether they then keep the file.
std::vector<Objection> SharedFiles(const Manifest& rows, const std::vector<druid::Segment>& used);

}  // namespace interlock::drop
