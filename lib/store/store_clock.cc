#include "lib/store/store_clock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace interlock::store {

StoreClock::StoreClock(const Clock& clock, const std::optional<ClockFacts>& stored, OnJump on_jump)
    : clock_(clock),
      boot_id_(clock.BootId()),
      on_jump_(std::move(on_jump)),
      stored_mark_ms_(Instant::kMin.millis()) {
  const Instant wall = clock_.Now();
  const int64_t monotonic = MonotonicMillis();
  offset_ms_ = wall.millis() - monotonic;
  if (stored.has_value()) {
    // The second condition fails where a container sees another monotonic clock under the
    // same boot id (a time namespace): then that boot tells us nothing.
    const Instant same_boot = Instant::FromMillis(monotonic + stored->offset_ms);
    if (stored->boot_id == boot_id_ && same_boot >= stored->mark - kMarkAhead) {
      offset_ms_ = stored->offset_ms;
      stored_mark_ms_ = stored->mark.millis();
    } else {
      offset_ms_ = std::max(wall, stored->mark).millis() - monotonic;
      const absl::Duration behind = stored->mark - wall;
      if (behind > kMarkAhead + kJump) Report(-behind);
    }
  }
  wall_ahead_ = wall - Now();
}

int64_t StoreClock::MonotonicMillis() const {
  return std::chrono::floor<std::chrono::milliseconds>(clock_.Monotonic()).count();
}

Instant StoreClock::Now() const { return Instant::FromMillis(MonotonicMillis() + offset_ms_); }

std::optional<ClockFacts> StoreClock::MarkFor(Instant now) const {
  if (now.millis() <= stored_mark_ms_.load(std::memory_order_relaxed)) return std::nullopt;
  return ClockFacts{boot_id_, offset_ms_, now + kMarkAhead};
}

void StoreClock::Stored(const ClockFacts& facts) {
  stored_mark_ms_.store(facts.mark.millis(), std::memory_order_relaxed);
}

void StoreClock::Watch() {
  const absl::Duration ahead = clock_.Now() - Now();
  const absl::Duration moved = ahead - wall_ahead_;
  wall_ahead_ = ahead;
  if (absl::AbsDuration(moved) > kJump) Report(moved);
}

void StoreClock::Report(absl::Duration by) {
  jumps_.fetch_add(1, std::memory_order_relaxed);
  if (on_jump_) on_jump_(by);
}

}  // namespace interlock::store
