// Work for the executor that is not due yet: what waits takes no thread.
//
// Threads: any; one thread of its own.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "lib/time/mutex.h"
#include "server/executor.h"

namespace interlock::server {

class Later {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Must be outlived by `executor`.
  explicit Later(Executor& executor);
  ~Later();

  // What is not due yet, and what comes after this, is told `dropped`.
  void End() INTERLOCK_EXCLUDES(mutex_);

  // Hands `work` to the executor once it is due; where that takes no more, `dropped` is run in
  // its place.
  void Run(Time due, std::function<void()> work, std::function<void()> dropped)
      INTERLOCK_EXCLUDES(mutex_);

 private:
  struct Item {
    std::function<void()> work, dropped;
  };

  void Loop() INTERLOCK_EXCLUDES(mutex_);

  Executor& executor_;
  Mutex mutex_;
  CondVar changed_;
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::multimap<Time, Item> items_ INTERLOCK_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace interlock::server
