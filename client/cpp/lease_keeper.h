// Keeps a lease alive, step by step, and knows when it is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/calls.h"
#include "client/cpp/lease_timer.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"

namespace interlock::client {

// What a lease is kept by: the grant, as far as keeping needs it.
struct Lease {
  std::string reservation_id;
  int64_t fencing_token = 0;
  std::chrono::nanoseconds sent{0};  // monotonic, before the call that got it went out
  std::chrono::nanoseconds remaining{0};
  std::chrono::nanoseconds ttl{0};
};

// How the owner of a lease is told. Called from the thread that found it out, never twice
// for the loss, and without any lock held.
struct LeaseEvents {
  // It is over, by the server's word or by the own deadline: stop writing. The status says
  // which: EXPIRED, FORCED … from the server, LEASE_DEADLINE from ourselves.
  std::function<void(const absl::Status& why)> lost;
  // A renewal came to nothing; there is so much time left to try again.
  std::function<void(const absl::Status& why, absl::Duration left)> renewal_failed;
};

// Asks the server how a lease ended: EXPIRED, RELEASED, FORCED, ORPHANED, UNKNOWN_RESERVATION.
// OK where it is there still, and where that cannot be known now.
absl::Status AskForEnd(Calls& calls, const std::string& reservation_id, absl::Duration timeout);

// Without a thread of its own: Step() does what is due and says when to be called again
// (client/cpp/reservation.h does that). Step() is for one thread at a time; all else can be
// called from any, also while Step() waits for an answer. Tend() goes in place of Step().
//
// The guarantee: from the own deadline on, held() is false, whether or not a server was
// reached, a thread got the CPU, or the machine slept (cases 115, 118, 123).
class LeaseKeeper {
 public:
  // `stop_early`: how long before the lease's end the owner must have been told.
  LeaseKeeper(Calls& calls, const Clock& clock, const Lease& lease, absl::Duration stop_early,
              LeaseEvents events);

  // Renews if that is due, and tells of a loss. Gives how long nothing will be due; zero
  // once it is lost.
  std::chrono::nanoseconds Step();

  // The same, and asks the server now and then whether the lease is still there: one that an
  // admin took is known in seconds, not with the next renewal. A server that cannot be asked
  // says nothing.
  std::chrono::nanoseconds Tend();

  // Tells of a loss by the own deadline, if that has passed. Gives how long that will not
  // be; zero once it is lost. For a second thread: Step() may hang in a call while the
  // machine was asleep, or where a server takes its time.
  std::chrono::nanoseconds Notice();

  bool held() const;
  // OK while held.
  absl::Status loss() const;
  // What became of the last renewal. While held, an error here means "unreachable so far":
  // the lease may well live, and is renewed again (case 123).
  absl::Status renewal() const;
  // To the moment the owner has to stop; zero once lost.
  absl::Duration left() const;
  // To the moment from which the server may give the time to others, counted as carefully
  // as can be; negative once it has passed.
  absl::Duration until_end() const;

 private:
  // Gives how long no look will be due; zero once the lease is lost.
  std::chrono::nanoseconds Look();
  void Renew(std::chrono::nanoseconds now);
  void Lose(const absl::Status& why);
  absl::Status LossLocked() const INTERLOCK_REQUIRES(mutex_);

  Calls& calls_;
  const Clock& clock_;
  const std::string reservation_id_;
  const int64_t fencing_token_;
  const std::chrono::nanoseconds ttl_;
  const LeaseEvents events_;
  std::chrono::nanoseconds next_look_{0};  // of the thread that tends alone
  mutable Mutex mutex_;
  LeaseTimer timer_ INTERLOCK_GUARDED_BY(mutex_);
  absl::Status loss_ INTERLOCK_GUARDED_BY(mutex_);
  absl::Status renewal_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::client
