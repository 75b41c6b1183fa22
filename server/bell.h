// A bell for one thread: rung by others, which it never holds up.
//
// Threads: Ring and Stop from any; Wait and Pause from the one that listens.
#pragma once

#include <chrono>

#include "lib/time/mutex.h"

namespace interlock::server {

class Bell {
 public:
  void Ring() {
    MutexLock lock(mutex_);
    rang_ = true;
    changed_.NotifyOne();
  }
  void Stop() {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyOne();
  }

  // Until it has rung since the last Wait, or `longest` is over. False once stopped.
  bool Wait(std::chrono::nanoseconds longest) {
    MutexLock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() + longest;
    while (!rang_ && !stopped_ && std::chrono::steady_clock::now() < until) {
      changed_.WaitFor(lock, until - std::chrono::steady_clock::now());
    }
    rang_ = false;
    return !stopped_;
  }
  // Lets rings gather for so long. False once stopped.
  bool Pause(std::chrono::nanoseconds time) {
    MutexLock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() + time;
    while (!stopped_ && std::chrono::steady_clock::now() < until) {
      changed_.WaitFor(lock, until - std::chrono::steady_clock::now());
    }
    return !stopped_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool rang_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool stopped_ INTERLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace interlock::server
