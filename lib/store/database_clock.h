// Time in a database that several servers share: the database's clock, plus a correction
// that is in the database, too, so that all of them read one time.
//
// Guarantee: a step of the database's clock, or a fail-over to a server whose clock differs,
// ends no lease early. Each server compares what it reads with its own monotonic clock;
// whoever sees a step first moves the correction by as much the other way, under a lock,
// before it decides anything. Time never goes below what a commit was decided at. Small
// differences (kJump) are drift: followed, not corrected.
//
// A step while no server looks can't be told from time that passed; one backwards stops at
// the last decision.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "lib/time/clock.h"
#include "lib/time/instant.h"
#include "lib/time/mutex.h"

namespace interlock::store {

// What one look at the database gave.
struct DatabaseTime {
  Instant database;                    // its clock
  int64_t correction_ms = 0;           // to be added
  int64_t corrections = 0;             // made so far
  Instant decided;                     // the latest time that a commit was decided at
  std::chrono::nanoseconds before{0};  // our monotonic clock, before the look
  std::chrono::nanoseconds after{0};   // and after it
};

class DatabaseClock {
 public:
  static constexpr absl::Duration kJump = absl::Seconds(1);

  // `clock` must outlive this.
  DatabaseClock(const Clock& clock, std::function<void(absl::Duration)> on_jump)
      : clock_(clock), on_jump_(std::move(on_jump)) {}

  struct Judged {
    Instant now;
    // By how much the database's clock is off: to be taken from the correction. Zero: it
    // is not.
    absl::Duration jump;
  };
  // What the look is worth. Where it shows a jump, `now` is what our own clock says.
  Judged Judge(const DatabaseTime& look) INTERLOCK_EXCLUDES(mutex_);
  // We have taken `jump` from the correction: the look after it is not judged.
  void Corrected(absl::Duration jump) INTERLOCK_EXCLUDES(mutex_);

  // By our own clock since the last look.
  Instant Now() const INTERLOCK_EXCLUDES(mutex_);
  int64_t jumps() const INTERLOCK_EXCLUDES(mutex_);

 private:
  static int64_t Millis(std::chrono::nanoseconds monotonic);
  void Anchor(const DatabaseTime& look, int64_t time_ms) INTERLOCK_REQUIRES(mutex_);

  const Clock& clock_;
  const std::function<void(absl::Duration)> on_jump_;
  mutable Mutex mutex_;
  bool anchored_ INTERLOCK_GUARDED_BY(mutex_) = false;
  int64_t offset_ms_ INTERLOCK_GUARDED_BY(mutex_) = 0;  // the store's time less our clock
  int64_t corrections_ INTERLOCK_GUARDED_BY(mutex_) = 0;
  int64_t last_ms_ INTERLOCK_GUARDED_BY(mutex_) = 0;  // given out last
  int64_t jumps_ INTERLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace interlock::store
