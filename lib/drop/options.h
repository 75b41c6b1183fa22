// How drops are done here: the operator's part of every decision. Requests can only make
// it stricter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/lease/reservation.h"

namespace interlock::drop {

// Whether `name` fits `pattern`, in which `*` stands for any characters.
bool FitsPattern(absl::string_view pattern, absl::string_view name);

struct DatasourceFloor {
  std::string pattern;  // as FitsPattern has it
  absl::Duration floor;
};

struct Options {
  // druid.access is OBSERVE: plans are made, nothing is asked for.
  bool observe_only = false;
  absl::Duration min_window = absl::Hours(1);
  absl::Duration default_window = absl::Hours(72);
  absl::Duration max_window = absl::Hours(24 * 365);
  // Nothing whose end is younger is ever killed.
  absl::Duration floor = absl::Hours(24 * 14);
  // Higher or lower ones; the first that fits counts.
  std::vector<DatasourceFloor> datasource_floors;
  bool require_approval = false;
  // Only segments of neighbouring partitions are put into one kill task, and never so
  // that it could reach more (kill.h).
  int64_t max_segments_per_kill = 1000;
  // How long after a call its effect is read once more.
  absl::Duration settle_time = absl::Seconds(2);
  // A kill task that waits for locks or a slot for longer is shut down.
  absl::Duration kill_deadline = absl::Minutes(10);
  // One that runs for longer as well: a thread that hangs would hold the drop for ever. It
  // deletes files one by one, so this is far beyond what max_segments_per_kill take.
  absl::Duration kill_run_deadline = absl::Hours(2);
  // Between two kill tasks, of all drops together: the metadata store and deep storage have
  // other work to do.
  absl::Duration kill_spacing = absl::Seconds(1);
  // How often the files that a kill left behind are looked for again.
  absl::Duration orphan_look_every = absl::Hours(1);
  // Between the store's clock, ours and Druid's. Beyond it nothing is killed.
  absl::Duration max_clock_skew = absl::Seconds(5);
  // How often a kill that something speaks against is looked at again.
  absl::Duration recheck_every = absl::Minutes(10);
  // A restore whose rows cannot be read for so long ends with ROWS_NOT_PROVEN.
  absl::Duration restore_proof_deadline = absl::Minutes(30);
  // Sums that differ are read again for so long: brokers learn of segments late.
  absl::Duration restore_differs_after = absl::Minutes(2);
  // How long an admin's consent to clocks that disagree counts.
  absl::Duration clock_consent = absl::Hours(1);
  // Of the reservations that drops take, and what else refuses them (seals).
  absl::Duration lease_ttl = absl::Minutes(10);
  lease::Limits lease;

  absl::Duration FloorOf(const std::string& datasource) const;
};

// Limits that hold everywhere.
inline constexpr int64_t kMaxSegments = 10'000;  // of one drop's manifest
inline constexpr int64_t kMaxIntervals = 1'000;  // of one request
inline constexpr int64_t kMaxSpanDays = 3'660;   // of all intervals together: ten years
inline constexpr size_t kMarkBatch = 500;        // ids in one call to Druid
inline constexpr int64_t kMaxReasonBytes = 1'024;
inline constexpr int64_t kMaxRequestIdBytes = 128;
inline constexpr int64_t kMaxRefusals = 3;      // of the same call, before a drop fails
inline constexpr int64_t kMaxKillFailures = 5;  // of one piece
inline constexpr int64_t kMaxPageSize = 1'000;
inline constexpr int64_t kDefaultPageSize = 50;

}  // namespace interlock::drop
