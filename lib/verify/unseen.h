// What is used and no query reads: older versions that a newer one hides, and newer ones that
// hide nothing since core partitions of theirs are missing.
//
// Pure. Threads: functions without state.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/druid/timeline.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/verify/verdict.h"

namespace interlock::verify {

// NOT_RETIRED, of what only reaches into a partition and may be read beyond it.
inline constexpr char kHiddenHereOnly[] = "HIDDEN_HERE_ONLY";

struct Unseen {
  const druid::Timeline& timeline;
  const std::vector<druid::Slice>& slices;  // what is seen in the partition
  const Interval& partition;
};

// INCOMPLETE_PARTITION_SET for each version that is not whole, and would be seen in a part of
// the partition at least if it were.
std::vector<Finding> JudgeIncomplete(const Unseen& here);

// Segments that no query reads, wherever it looks.
struct Hidden {
  std::set<std::string> versions;
  // By id: since when, at the earliest. The last of what hides one was written then, or at
  // `none_hidden_at` nothing was hidden yet; nothing where no version is a time.
  std::map<std::string, std::optional<Instant>> since;
};
Hidden LookForHidden(const Unseen& here, const std::optional<Instant>& none_hidden_at);

// NOT_RETIRED: of what is hidden, and (HIDDEN_HERE_ONLY) of what is hidden in the partition and
// reaches beyond it, as a day's chunk below one of its hours.
std::vector<Finding> JudgeRetired(const Unseen& here, const Hidden& hidden);

}  // namespace interlock::verify
