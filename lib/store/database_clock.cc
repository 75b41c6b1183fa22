#include "lib/store/database_clock.h"

#include <algorithm>
#include <utility>

namespace interlock::store {

int64_t DatabaseClock::Millis(std::chrono::nanoseconds monotonic) {
  return std::chrono::floor<std::chrono::milliseconds>(monotonic).count();
}

void DatabaseClock::Anchor(const DatabaseTime& look, int64_t time_ms) {
  offset_ms_ = time_ms - Millis(look.after);
  corrections_ = look.corrections;
  last_ms_ = std::max(last_ms_, time_ms);
  anchored_ = true;
}

DatabaseClock::Judged DatabaseClock::Judge(const DatabaseTime& look) {
  const int64_t jump_ms = absl::ToInt64Milliseconds(kJump);
  const int64_t read_ms = look.database.millis() + look.correction_ms;
  MutexLock lock(mutex_);
  if (!anchored_ || look.corrections != corrections_) {
    // Nothing to judge it by, or another server has judged it already.
    const int64_t behind_ms = look.decided.millis() - read_ms;
    if (!anchored_ && behind_ms > jump_ms) {
      return {look.decided, -absl::Milliseconds(behind_ms)};
    }
    Anchor(look, read_ms);
  }
  // The database was read at some time between the two readings of ours.
  const int64_t earliest_ms = Millis(look.before) + offset_ms_;
  const int64_t latest_ms = Millis(look.after) + offset_ms_;
  if (read_ms < earliest_ms - jump_ms) {
    return {Instant::FromMillis(latest_ms), -absl::Milliseconds(earliest_ms - read_ms)};
  }
  if (read_ms > latest_ms + jump_ms) {
    return {Instant::FromMillis(latest_ms), absl::Milliseconds(read_ms - latest_ms)};
  }
  offset_ms_ += read_ms - std::clamp(read_ms, earliest_ms, latest_ms);
  last_ms_ = std::max({last_ms_, read_ms, look.decided.millis()});
  return {Instant::FromMillis(last_ms_), absl::ZeroDuration()};
}

void DatabaseClock::Corrected(absl::Duration jump) {
  {
    MutexLock lock(mutex_);
    ++jumps_;
    ++corrections_;
  }
  if (on_jump_) on_jump_(jump);
}

Instant DatabaseClock::Now() const {
  const int64_t monotonic = Millis(clock_.Monotonic());
  MutexLock lock(mutex_);
  return Instant::FromMillis(std::max(last_ms_, monotonic + offset_ms_));
}

int64_t DatabaseClock::jumps() const {
  MutexLock lock(mutex_);
  return jumps_;
}

}  // namespace interlock::store
