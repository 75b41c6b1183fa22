// Requests to Druid at a bounded rate: what the sweeper asks through, so that a sweep is no
// load that anybody notices. Every exchange counts, repeated ones and redirects too.
//
// Threads: any.
#pragma once

#include <chrono>
#include <memory>

#include "lib/druid/transport.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"

namespace interlock::sweep {

class PacedTransport : public druid::HttpTransport {
 public:
  // `per_second` above 0. The clock must outlive it; only its monotonic side is read.
  PacedTransport(std::shared_ptr<druid::HttpTransport> inner, const Clock& clock,
                 double per_second);

  // Waits for its turn (the deadline of the request does not run meanwhile), then sends.
  // After Stop: not connected, at once.
  druid::HttpReply Send(const druid::HttpRequest& request) override INTERLOCK_EXCLUDES(mutex_);
  void Pause(std::chrono::milliseconds duration) override { inner_->Pause(duration); }

  // Ends all waits, now and later.
  void Stop() INTERLOCK_EXCLUDES(mutex_);

 private:
  bool WaitForTurn() INTERLOCK_EXCLUDES(mutex_);

  const std::shared_ptr<druid::HttpTransport> inner_;
  const Clock& clock_;
  const std::chrono::nanoseconds between_;
  Mutex mutex_;
  CondVar stopped_;
  bool stopping_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::chrono::nanoseconds next_ INTERLOCK_GUARDED_BY(mutex_){0};
};

}  // namespace interlock::sweep
