// When a lease is renewed, and when its holder has to stop: arithmetic alone.
#pragma once

#include <chrono>

namespace interlock::client {

// All moments are readings of one monotonic clock of the holder's own.
//
// A lease is counted from when the call that got it was SENT: the server's own count began
// later, so the holder stops before the server gives the time away, however long the reply
// was under way. No thread rule: the owner locks.
class LeaseTimer {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // `remaining` and `ttl` as the server's reply has them. `stop_early` is the time the
  // holder needs to stop; at most a third of the lease is given to it.
  LeaseTimer(Nanoseconds sent, Nanoseconds remaining, Nanoseconds ttl, Nanoseconds stop_early);

  // At this moment the lease may be over.
  Nanoseconds deadline() const { return deadline_; }
  // At this moment the holder stops, if nothing was renewed till then.
  Nanoseconds stop() const { return stop_; }
  // When to ask for more: at a third of the lease, so that two more thirds are left to try
  // again in.
  Nanoseconds next_renewal() const { return next_renewal_; }

  // A renewal that was sent at `sent` was answered.
  void Renewed(Nanoseconds sent, Nanoseconds remaining);
  // A renewal came to nothing, and nothing is known: try again soon.
  void Failed(Nanoseconds now);

 private:
  const Nanoseconds ttl_;
  const Nanoseconds stop_early_;
  Nanoseconds deadline_{0};
  Nanoseconds stop_{0};
  Nanoseconds next_renewal_{0};
};

}  // namespace interlock::client
