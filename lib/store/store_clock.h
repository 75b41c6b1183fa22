// The store's own time: the only time that decides about deadlines.
//
// Guarantee: it never goes back, and while the process runs it follows the monotonic
// clock alone, so that a step of the wall clock neither ends a lease early nor lets one
// live on. After a restart under the same boot the downtime is known to the millisecond.
// After a reboot the wall clock counts, but never below the high-water mark in the store:
// what had expired stays expired (etcd #12291 shows what happens else).
//
// The mark is stored ahead of time, once a second at most (kMarkAhead), so that commits
// do not pay for it: whatever time a write was decided or refused by lies at or below a
// stored mark, and what reads have shown does so a moment later.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "lib/time/clock.h"
#include "lib/time/instant.h"

namespace interlock::store {

// What the store remembers of its clock.
struct ClockFacts {
  std::string boot_id;
  int64_t offset_ms = 0;  // store time less the monotonic clock of that boot
  Instant mark;           // no commit was decided at a later time
};

class StoreClock {
 public:
  static constexpr absl::Duration kMarkAhead = absl::Seconds(1);
  // A wall clock that moves by more against ours was set; less is drift and rounding.
  static constexpr absl::Duration kJump = absl::Seconds(1);
  // Called with how far the wall clock moved against the store's.
  using OnJump = std::function<void(absl::Duration by)>;

  // `clock` must outlive this. `stored` is nothing in a new store.
  StoreClock(const Clock& clock, const std::optional<ClockFacts>& stored, OnJump on_jump);

  Instant Now() const;

  // The mark to store with a commit decided at `now`; nothing while the stored one will do.
  std::optional<ClockFacts> MarkFor(Instant now) const;
  // That mark is durable.
  void Stored(const ClockFacts& facts);

  // Compares the wall clock with ours and reports a jump, once each. One thread at a time.
  void Watch();
  int64_t jumps() const { return jumps_.load(std::memory_order_relaxed); }

 private:
  int64_t MonotonicMillis() const;
  void Report(absl::Duration by);

  const Clock& clock_;
  const std::string boot_id_;
  const OnJump on_jump_;
  int64_t offset_ms_ = 0;
  std::atomic<int64_t> stored_mark_ms_;
  std::atomic<int64_t> jumps_{0};
  absl::Duration wall_ahead_;  // of ours, when last watched
};

}  // namespace interlock::store
