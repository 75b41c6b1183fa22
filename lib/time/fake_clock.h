// A clock that stands still until a test moves it.
#pragma once

#include <chrono>
#include <string>

#include "absl/time/time.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"

namespace interlock {

// Safe to call from any thread.
class FakeClock : public Clock {
 public:
  // 2026-07-16T13:00:00.000Z unless told otherwise.
  FakeClock();
  explicit FakeClock(Instant now) : now_(now) {}

  Instant Now() const override INTERLOCK_EXCLUDES(mutex_);
  std::chrono::nanoseconds Monotonic() const override INTERLOCK_EXCLUDES(mutex_);
  std::string BootId() const override INTERLOCK_EXCLUDES(mutex_);

  // Time passes: both clocks move. `by` must not be negative.
  void Advance(absl::Duration by) INTERLOCK_EXCLUDES(mutex_);

  // Somebody sets the wall clock, forwards or back; no time passes.
  void StepWall(absl::Duration by) INTERLOCK_EXCLUDES(mutex_);

  // The machine goes down and comes up after `downtime`, with another boot id and a
  // monotonic clock that starts anew.
  void Reboot(absl::Duration downtime = absl::ZeroDuration()) INTERLOCK_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  Instant now_ INTERLOCK_GUARDED_BY(mutex_);
  // What Advance left below a millisecond: many small steps must add up on the wall too.
  std::chrono::nanoseconds wall_rest_ INTERLOCK_GUARDED_BY(mutex_){0};
  std::chrono::nanoseconds monotonic_ INTERLOCK_GUARDED_BY(mutex_){0};
  int boots_ INTERLOCK_GUARDED_BY(mutex_) = 1;
};

}  // namespace interlock
