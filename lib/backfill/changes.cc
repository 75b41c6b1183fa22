#include "lib/backfill/changes.h"

namespace interlock::backfill {

void Changes::Ring() {
  MutexLock lock(mutex_);
  ++count_;
  rung_.NotifyAll();
}

int64_t Changes::count() const {
  MutexLock lock(mutex_);
  return count_;
}

int64_t Changes::Wait(int64_t seen, std::chrono::nanoseconds timeout) {
  MutexLock lock(mutex_);
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (count_ == seen) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds::zero() || !rung_.WaitFor(lock, left)) break;
  }
  return count_;
}

}  // namespace interlock::backfill
