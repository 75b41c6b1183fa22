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

absl::Status CountAnew(Calls& calls, const Clock& clock, Lease& lease, const Repeating& repeating) {
  lease.sent = clock.Monotonic();
  v1::RenewReservationRequest request;
  request.set_reservation_id(lease.reservation_id);
  request.set_fencing_token(lease.fencing_token);
  ToProto(lease.ttl, *request.mutable_ttl());
  v1::RenewReservationResponse reply;
  absl::Status status =
      CallRepeated(calls, clock, repeating, "Reservations.RenewReservation", request, reply);
  if (status.ok()) lease.remaining = FromProto(reply.reservation().remaining());
  return status;
}

// Released twice is released: a lost reply is no harm.
absl::Status GiveBack(Calls& calls, const Clock& clock, const Lease& lease, Repeating repeating,
                      absl::Duration timeout) {
  repeating.timeout = timeout;
  repeating.longest_away = timeout;
  v1::ReleaseReservationRequest request;
  request.set_reservation_id(lease.reservation_id);
  request.set_fencing_token(lease.fencing_token);
  v1::ReleaseReservationResponse reply;
  return CallRepeated(calls, clock, repeating, "Reservations.ReleaseReservation", request, reply);
}

Lease LeaseOf(const v1::Reservation& granted, const v1::ReserveIntervalRequest& asked,
              nanoseconds sent) {
  Lease lease;
  lease.reservation_id = granted.reservation_id();
  lease.fencing_token = granted.fencing_token();
  lease.sent = sent;
  lease.remaining = FromProto(granted.remaining());
  // Where a server does not say its length, that is what was asked for; else what is left of
  // a fresh grant, though that is a moment less: a renewal may then be below a limit.
  lease.ttl = granted.has_ttl() ? FromProto(granted.ttl())
              : asked.has_ttl() ? FromProto(asked.ttl())
                                : lease.remaining;
  return lease;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Reservation>> Reservation::Take(Calls& calls, const Clock& clock,
                                                               v1::ReserveIntervalRequest request,
                                                               Options options) {
  if (request.request_id().empty()) request.set_request_id(RandomRequestId());
  const nanoseconds sent = clock.Monotonic();
  v1::ReserveIntervalResponse grant;
  const absl::Status status =
      CallRepeated(calls, clock, options.repeating, "IngestionCoordinator.ReserveInterval", request,
                   grant, request.has_wait() ? request.mutable_wait() : nullptr);
  if (!status.ok()) return status;
  if (grant.reservation().reservation_id().empty()) return AllHeld(grant);
  Lease lease = LeaseOf(grant.reservation(), request, sent);
  if (CountsFromTooEarly(lease, clock.Monotonic())) {
    const absl::Status renewed = CountAnew(calls, clock, lease, options.repeating);
    if (!renewed.ok()) {
      // Nobody will hold it: better free at once than when it ends by itself.
      GiveBack(calls, clock, lease, options.repeating, options.release_timeout).IgnoreError();
      return renewed;
    }
  }
  return std::unique_ptr<Reservation>(
      new Reservation(calls, clock, std::move(grant), lease, std::move(options)));
}

Reservation::Reservation(Calls& calls, const Clock& clock, v1::ReserveIntervalResponse grant,
                         const Lease& lease, Options options)
    : calls_(calls),
      grant_(std::move(grant)),
      clock_(clock),
      repeating_(options.repeating),
      release_timeout_(options.release_timeout),
      keeper_(calls, clock, lease, options.stop_early, std::move(options.events)),
      renewer_([this] { Run(&LeaseKeeper::Tend); }),
      sentinel_([this] { Run(&LeaseKeeper::Notice); }) {}

Reservation::~Reservation() {
  StopRenewing();
  if (!given_back_ && held()) Release(release_timeout_).IgnoreError();
}

void Reservation::Run(nanoseconds (LeaseKeeper::*step)()) {
  while (true) {
    const nanoseconds rest = (keeper_.*step)();
    MutexLock lock(mutex_);
    if (rest == nanoseconds::zero()) return changed_.NotifyAll();
    if (!closing_) changed_.WaitFor(lock, std::min<nanoseconds>(rest, kLongestNap));
    if (closing_) return;
  }
}

absl::Status Reservation::WaitUntilLost(absl::Duration longest) {
  // Not the lease's clock: a test's stands still.
  const auto end = longest == absl::InfiniteDuration()
                       ? std::chrono::steady_clock::time_point::max()
                       : std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(longest);
  while (true) {
    absl::Status loss = keeper_.loss();
    if (!loss.ok()) return loss;
    MutexLock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (closing_ || now >= end) return absl::OkStatus();
    changed_.WaitFor(lock, std::min<nanoseconds>(end - now, kLongestNap));
  }
}

void Reservation::StopRenewing() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.NotifyAll();
  if (renewer_.joinable()) renewer_.join();
  if (sentinel_.joinable()) sentinel_.join();
}

void Reservation::Keep() {
  given_back_ = true;
  StopRenewing();
}

absl::Status Reservation::Release(absl::Duration timeout) {
  StopRenewing();
  given_back_ = true;
  Lease lease;
  lease.reservation_id = id();
  lease.fencing_token = fencing_token();
  return GiveBack(calls_, clock_, lease, repeating_, timeout);
}

}  // namespace interlock::client
