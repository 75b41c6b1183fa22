#include "lib/time/mutex.h"

#include <algorithm>

namespace interlock {
namespace {

// now + timeout must not overflow; a year is as good as for ever.
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::hours(24 * 365);

}  // namespace

bool CondVar::WaitFor(MutexLock& lock, std::chrono::nanoseconds timeout) {
  const auto bounded = std::min(timeout, kLongestWait);
  // wait_for of libstdc++ counts on the steady clock.
  return condition_.wait_for(lock.lock_, bounded) == std::cv_status::no_timeout;
}

}  // namespace interlock
