// How backfills are done here: the operator's part. Requests can narrow it.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "lib/guard/options.h"
#include "lib/lease/reservation.h"

namespace interlock::backfill {

struct Options {
  // With OBSERVE nothing is submitted.
  bool manage = true;

  int64_t max_parallel = 2;        // tasks of one backfill, unless the request says otherwise
  int64_t max_per_datasource = 8;  // tasks of all backfills of a datasource
  int64_t max_in_all = 32;
  int64_t max_attempts = 3;  // of a unit in one backfill
  int64_t max_unit_partitions = 1'000;

  absl::Duration lease_ttl = absl::Minutes(10);
  // Deadline of a call to Druid: one that changes something goes out only if the worker's
  // claim and the lease last longer than this.
  absl::Duration call_deadline = absl::Seconds(30);
  // How long a task may wait for a slot or a lock, and how long it may run.
  absl::Duration waiting_deadline = absl::Hours(1);
  absl::Duration run_deadline = absl::Hours(24);
  // How long a lost POST may be settled by posting the same id again: well below the age at
  // which Druid's task-log cleanup forgets ids.
  absl::Duration settle_window = absl::Hours(6);

  // How long after its end a backfill can be rolled back.
  absl::Duration rollback_window = absl::Hours(24);
  // Mark what it replaced unused after that (retire_worker.h).
  bool retire = false;

  absl::Duration poll_every = absl::Milliseconds(300);  // of running tasks
  absl::Duration slow_poll = absl::Seconds(2);          // of tasks that run for long
  absl::Duration look_every = absl::Milliseconds(400);  // while proving
  absl::Duration slow_look = absl::Seconds(10);         // of what can't be told
  absl::Duration blocked_every = absl::Seconds(5);      // of what is in the way
  // An effect that is not there is looked for once more after this.
  absl::Duration settle_time = absl::Seconds(2);
  // Brokers see new segments up to some seconds after the metadata store; before that,
  // other rows than expected mean nothing.
  absl::Duration row_patience = absl::Seconds(20);
  // A used version this far ahead of Druid's own clock would hide whatever is written now.
  absl::Duration max_clock_skew = absl::Minutes(5);

  // How long a handover keeps a stream suspended, unless the request says otherwise.
  absl::Duration max_pause = absl::Minutes(10);
  // How streams are watched: what was proven beside one is looked at again.
  guard::Options guard;

  lease::Limits lease_limits;
};

// Limits that hold everywhere.
inline constexpr int64_t kMaxRequestIdBytes = 128;
inline constexpr int64_t kMaxReasonBytes = 1'024;
inline constexpr int64_t kMaxParallel = 1'000;
inline constexpr int64_t kMaxPageSize = 1'000;
// Rows are summed partition by partition only in units of at most so many: each costs a
// query.
inline constexpr size_t kMaxSummedPartitions = 24;

}  // namespace interlock::backfill
