// A lease on time that renews itself while this object lives.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/calls.h"
#include "client/cpp/lease_keeper.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"

namespace interlock::client {

// Renews in the background at a third of the lease, and stops by its own monotonic
// deadline without a server's word. Who writes under it asks held() before each step, or
// gives LeaseEvents::lost. All methods can be called from any thread, but for Release()
// and the destructor: from the owner's, and not from an event.
class Reservation {
 public:
  struct Options {
    // What the owner needs to stop in; at most a third of the lease.
    absl::Duration stop_early = absl::Seconds(1);
    // Longest time for the call that reserves, beside `request.wait`.
    absl::Duration timeout = absl::Seconds(30);
    LeaseEvents events;
  };

  // Reserves. Errors as IngestionCoordinator.ReserveInterval; with `skip_held`, when others
  // hold all of it, FAILED_PRECONDITION HELD naming each. `calls` and `clock` must outlive
  // the result.
  static absl::StatusOr<std::unique_ptr<Reservation>> Take(
      Calls& calls, const Clock& clock, const v1::ReserveIntervalRequest& request, Options options);

  // Stops renewing. The lease then ends by itself; Release() gives it back at once.
  ~Reservation();

  // What was granted.
  const v1::ReserveIntervalResponse& grant() const { return grant_; }
  const std::string& id() const { return grant_.reservation().reservation_id(); }
  int64_t fencing_token() const { return grant_.reservation().fencing_token(); }

  bool held() const { return keeper_.held(); }
  absl::Status loss() const { return keeper_.loss(); }
  absl::Duration left() const { return keeper_.left(); }

  // Stops renewing without giving the lease back: for one that others act under still.
  void StopRenewing();

  // Stops renewing and gives the lease back. Errors as Reservations.ReleaseReservation.
  absl::Status Release(absl::Duration timeout);

 private:
  Reservation(Calls& calls, const Clock& clock, v1::ReserveIntervalResponse grant,
              const Lease& lease, Options options);
  void Run();

  Calls& calls_;
  const v1::ReserveIntervalResponse grant_;
  LeaseKeeper keeper_;
  Mutex mutex_;
  CondVar closing_changed_;
  bool closing_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace interlock::client
