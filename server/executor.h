// A few threads for calls that wait for Druid, so that gRPC's own never do.
//
// The queue is bounded: where more waits than anybody will still want an answer to, a
// call is refused at once (RESOURCE_EXHAUSTED) and nothing was begun.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "lib/time/mutex.h"

namespace interlock::server {

class Executor {
 public:
  static constexpr size_t kMaxWaiting = 10'000;

  explicit Executor(int threads);
  ~Executor();  // finishes what was taken

  // False where the queue is full or the executor ends: `work` will not run.
  bool Run(std::function<void()> work);

 private:
  void Loop();

  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> queue_ INTERLOCK_GUARDED_BY(mutex_);
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace interlock::server
