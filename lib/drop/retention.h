// Retention policies: drops that make themselves. A policy says which data of which
// datasources is old enough; a run of it plans one drop for each datasource that has some,
// and each of those goes the way of any other drop: marked, its window, killed.
//
// A policy can do much harm with one wrong letter, so a run has caps: beyond them it makes
// the drop but marks nothing, and asks (AWAITING_APPROVAL, CAP_REACHED).
//
// Threads: values and functions without state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/drop/options.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/time/period.h"

namespace interlock::drop {

struct RetentionPolicy {
  std::string name;
  std::string datasource_pattern;  // as FitsPattern has it
  // What is older than this goes, counted on the calendar of `time_zone`.
  Period age;
  Period schedule = Period::Days(1);
  std::string time_zone = "UTC";
  std::optional<absl::Duration> window, floor;
  bool approval = false;
  // Caps of one run: over all its datasources, and (share) of one datasource's bytes.
  int64_t max_segments = 10'000;
  int64_t max_bytes = 0;  // 0: no cap
  double max_share = 0.5;
  bool dry_run = false;

  // Kept by us.
  std::string updated_by;
  Instant updated;
  Instant next_run;
  std::optional<Instant> run;  // the last one
  std::string run_message;
};

inline constexpr size_t kMaxPolicyNameBytes = 128;
inline constexpr size_t kMaxPatternBytes = 256;
inline constexpr int64_t kMaxRunMessageBytes = 2'000;

// INVALID_NAME, INVALID_PATTERN, INVALID_PERIOD (age or schedule not above 0, a schedule
// below a minute, a zone that is unknown), WINDOW_TOO_SHORT, WINDOW_TOO_LONG,
// FLOOR_TOO_LOW, INVALID_CAP.
absl::Status CheckPolicy(const RetentionPolicy& policy, const Options& options);

// What ends at or before it is old enough at `now`: older than the policy's age, and than
// every floor that holds for the datasource. CheckPolicy was OK.
Instant OldBefore(const RetentionPolicy& policy, const std::string& datasource,
                  const Options& options, Instant now);

// The next run after `now`, in steps of the schedule from `last`.
Instant NextRun(const RetentionPolicy& policy, Instant last, Instant now);

// Segments of one interval.
struct OldTime {
  int64_t segments = 0;
  int64_t bytes = 0;
};
using OldData = std::map<Interval, OldTime>;

// What one drop takes of it: the oldest, up to the limits of a drop.
struct Share {
  std::vector<Interval> intervals;  // condensed
  int64_t segments = 0;
  int64_t bytes = 0;
  bool all = true;  // nothing had to be left for the next run
};
Share OldestOf(const OldData& old);

// What is not to be touched (again) is taken out: all that overlaps `excluded`.
void Exclude(const std::vector<Interval>& excluded, OldData& old);

// What one run has made so far.
struct Spent {
  int64_t segments = 0;
  int64_t bytes = 0;
};
// Which cap the next drop would be beyond, as one line for people; "" for none.
// `total_bytes` is the datasource's, 0 where nothing is known of it.
std::string CapReached(const RetentionPolicy& policy, const Spent& spent, const Share& next,
                       int64_t total_bytes);

}  // namespace interlock::drop
