// Jumps of the wall clock, from where they are seen (the store, which may see one before
// anything else is there) to who has to know.
//
// Threads: any.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "lib/time/mutex.h"

namespace interlock::server {

class ClockJumps {
 public:
  void Add(absl::Duration by) {
    std::function<void(absl::Duration)> tell;
    {
      const MutexLock lock(mutex_);
      if (!tell_) early_.push_back(by);
      tell = tell_;
    }
    if (tell) tell(by);
  }

  // Calls `tell` with all that were seen so far, and with each from now on; nullptr: nobody.
  void TellTo(const std::function<void(absl::Duration)>& tell) {
    std::vector<absl::Duration> early;
    {
      const MutexLock lock(mutex_);
      tell_ = tell;
      early.swap(early_);
    }
    if (!tell) return;
    for (const absl::Duration by : early) tell(by);
  }

 private:
  Mutex mutex_;
  std::function<void(absl::Duration)> tell_;
  std::vector<absl::Duration> early_;
};

}  // namespace interlock::server
