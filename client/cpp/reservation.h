// A lease on time of a Druid datasource that renews itself while this object lives.
//
//   auto connection = interlock::client::Connection::Open({.address = "127.0.0.1:7430"});
//   const interlock::SystemClock clock;
//   interlock::v1::ReserveIntervalRequest request;
//   request.set_datasource("page_views");
//   request.add_intervals("2026-07-16T13");
//   auto lease = interlock::client::Reservation::Take(**connection, clock, request, {});
//   while (more to do && (*lease)->held()) …  // and show (*lease)->fencing_token()
//
// client/cpp/README.md tells the whole of it; client/cpp/examples has one that runs.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/calls.h"
#include "client/cpp/lease_keeper.h"
#include "client/cpp/repeat.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"

namespace interlock::client {

// Renews in the background at a third of the lease, looks every few seconds whether it was
// taken by force meanwhile, and stops by its own monotonic deadline without a server's word: that
// counts from before the request went out, so the owner has stopped before the server lets anybody
// else in, however long replies took and whatever happened to the wall clock. A server that
// restarts, or can't be reached for a while, loses nothing that is renewed in time. What is lost
// stays lost: it is never reserved again behind the owner's back.
//
// Who writes under it asks held() before each step, or gives LeaseEvents::lost, or waits
// in WaitUntilLost(). Why it was lost is ReasonOf(loss()), from lib/time/status_reason.h:
//
//   LEASE_DEADLINE       the own deadline passed unrenewed; nobody knows the server's view
//   EXPIRED, RELEASED, SUPERSEDED (a later grant overlaps), FORCED (by an admin), ORPHANED
//   STALE_TOKEN, UNKNOWN_RESERVATION, NOT_THE_HOLDER     it is not this holder's lease
//
// All methods can be called from any thread, but for Release(), Keep() and the destructor:
// from the owner's, and not from an event. Two threads each.
class Reservation {
 public:
  struct Options {
    // What the owner needs to stop in; at most a third of the lease.
    absl::Duration stop_early = absl::Seconds(1);
    // Longest time for one try of the call that reserves, beside `request.wait`, and how
    // long a server that is away is asked again.
    Repeating repeating;
    // Longest time that the destructor takes to give the lease back.
    absl::Duration release_timeout = absl::Seconds(5);
    LeaseEvents events;
  };

  // Reserves. Where the server is away it is asked again, with the same request id (a
  // random one where the request has none): a lost reply never makes a second lease.
  // Errors as IngestionCoordinator.ReserveInterval; with `skip_held`, when others hold all
  // of it, FAILED_PRECONDITION HELD naming each. `calls` and `clock` must outlive the
  // result.
  static absl::StatusOr<std::unique_ptr<Reservation>> Take(Calls& calls, const Clock& clock,
                                                           v1::ReserveIntervalRequest request,
                                                           Options options);

  // Stops renewing and gives a lease back that is still held, unless Keep() was called. One
  // that can't be given back ends by itself.
  ~Reservation();
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // What was granted.
  const v1::ReserveIntervalResponse& grant() const { return grant_; }
  const std::string& id() const { return grant_.reservation().reservation_id(); }
  int64_t fencing_token() const { return grant_.reservation().fencing_token(); }

  bool held() const { return keeper_.held(); }
  // OK while held.
  absl::Status loss() const { return keeper_.loss(); }
  // OK while held and reachable; while held, an error means "unreachable so far".
  absl::Status renewal() const { return keeper_.renewal(); }
  // To the moment at which the owner must have stopped; zero once lost.
  absl::Duration left() const { return keeper_.left(); }
  // To the moment from which others may be let in; negative once it has passed.
  absl::Duration until_end() const { return keeper_.until_end(); }

  // Until the lease is lost, or `longest` has passed on the steady clock. The loss; OK where
  // it is still held, or nothing renews it any more.
  absl::Status WaitUntilLost(absl::Duration longest = absl::InfiniteDuration());

  // Stops renewing without giving the lease back: for one that others act under still.
  void Keep();

  // Stops renewing and gives the lease back; for `timeout`, a server that is away is asked
  // again. Errors as Reservations.ReleaseReservation; one for which EndsLease() is true
  // (status_conversion.h) says that it was lost before.
  absl::Status Release(absl::Duration timeout);

 private:
  Reservation(Calls& calls, const Clock& clock, v1::ReserveIntervalResponse grant,
              const Lease& lease, Options options);
  // Runs `step` when it is due, until it says that nothing is left to do.
  void Run(std::chrono::nanoseconds (LeaseKeeper::*step)());
  void StopRenewing();

  Calls& calls_;
  const v1::ReserveIntervalResponse grant_;
  const Clock& clock_;
  const Repeating repeating_;
  const absl::Duration release_timeout_;
  LeaseKeeper keeper_;
  Mutex mutex_;
  CondVar changed_;
  bool closing_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool given_back_ = false;  // or kept: the owner's thread alone reads and writes it
  std::thread renewer_;
  // Tells of the own deadline while the renewer waits for an answer.
  std::thread sentinel_;
};

}  // namespace interlock::client
