// A bell that rings when some backfill has changed, for watches.
//
// It carries nothing but the fact: who hears it reads the store (Backfills::Changes),
// where nothing is lost. A watch on another replica hears nothing and looks now and then.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstdint>

#include "lib/time/mutex.h"

namespace interlock::backfill {

class Changes {
 public:
  void Ring() INTERLOCK_EXCLUDES(mutex_);
  int64_t count() const INTERLOCK_EXCLUDES(mutex_);
  // Waits until it has rung since `seen` (a count), or `timeout` is over; gives the count.
  int64_t Wait(int64_t seen, std::chrono::nanoseconds timeout) INTERLOCK_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  CondVar rung_;
  int64_t count_ INTERLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace interlock::backfill
