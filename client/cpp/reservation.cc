#include "client/cpp/reservation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/durations.h"
#include "interlock/v1/reservations.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::client {
namespace {

using std::chrono::nanoseconds;

// A machine that slept wakes threads by a clock that slept too: look often enough to
// notice soon that the lease's clock went on.
constexpr std::chrono::seconds kLongestNap{1};

absl::Status AllHeld(const v1::ReserveIntervalResponse& grant) {
  absl::Status status =
      WithReason(absl::FailedPreconditionError("all of the asked time is held by others"), "HELD",
                 {{"count", absl::StrCat(grant.skipped_size())}});
  for (const auto& held : grant.skipped()) {
    AddBlocker(status, held.reason(), held.interval(),
               held.message().empty() ? absl::StrCat(held.interval(), " is held by ", held.holder(),
                                                     " (", held.purpose(), ")")
                                      : held.message());
  }
  return status;
}

// A call that took long (it waited for its turn) says little about when within it the lease
// began: a renewal, which takes no time, tells. False where that can be done without.
bool CountsFromTooEarly(const Lease& lease, nanoseconds now) {
  return now - lease.sent > lease.remaining / 10;
}

absl::Status CountAnew(Calls& calls, const Clock& clock, Lease& lease, absl::Duration timeout) {
  lease.sent = clock.Monotonic();
  v1::RenewReservationRequest request;
  request.set_reservation_id(lease.reservation_id);
  request.set_fencing_token(lease.fencing_token);
  ToProto(lease.ttl, *request.mutable_ttl());
  v1::RenewReservationResponse reply;
  const absl::Status status = calls.Call("Reservations.RenewReservation", request, reply, timeout);
  if (status.ok()) lease.remaining = FromProto(reply.reservation().remaining());
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Reservation>> Reservation::Take(
    Calls& calls, const Clock& clock, const v1::ReserveIntervalRequest& request, Options options) {
  Lease lease;
  lease.sent = clock.Monotonic();
  v1::ReserveIntervalResponse grant;
  const absl::Duration wait =
      absl::Seconds(request.wait().seconds()) + absl::Nanoseconds(request.wait().nanos());
  const absl::Status status =
      calls.Call("IngestionCoordinator.ReserveInterval", request, grant, options.timeout + wait);
  if (!status.ok()) return status;
  if (grant.reservation().reservation_id().empty()) return AllHeld(grant);
  lease.reservation_id = grant.reservation().reservation_id();
  lease.fencing_token = grant.reservation().fencing_token();
  lease.remaining = FromProto(grant.reservation().remaining());
  // What is left of a fresh grant is its length, where a server does not say it.
  lease.ttl =
      grant.reservation().has_ttl() ? FromProto(grant.reservation().ttl()) : lease.remaining;
  if (CountsFromTooEarly(lease, clock.Monotonic())) {
    const absl::Status renewed = CountAnew(calls, clock, lease, options.timeout);
    if (!renewed.ok()) return renewed;
  }
  return std::unique_ptr<Reservation>(
      new Reservation(calls, clock, std::move(grant), lease, std::move(options)));
}

Reservation::Reservation(Calls& calls, const Clock& clock, v1::ReserveIntervalResponse grant,
                         const Lease& lease, Options options)
    : calls_(calls),
      grant_(std::move(grant)),
      keeper_(calls, clock, lease, options.stop_early, std::move(options.events)),
      thread_([this] { Run(); }) {}

Reservation::~Reservation() { StopRenewing(); }

void Reservation::Run() {
  while (true) {
    const nanoseconds rest = keeper_.Step();
    if (rest == nanoseconds::zero()) return;
    MutexLock lock(mutex_);
    if (!closing_) closing_changed_.WaitFor(lock, std::min<nanoseconds>(rest, kLongestNap));
    if (closing_) return;
  }
}

void Reservation::StopRenewing() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  closing_changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

absl::Status Reservation::Release(absl::Duration timeout) {
  StopRenewing();
  v1::ReleaseReservationRequest request;
  request.set_reservation_id(id());
  request.set_fencing_token(fencing_token());
  v1::ReleaseReservationResponse reply;
  return calls_.Call("Reservations.ReleaseReservation", request, reply, timeout);
}

}  // namespace interlock::client
