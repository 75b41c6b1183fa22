#include "client/cpp/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/durations.h"
#include "client/cpp/status_conversion.h"
#include "interlock/v1/reservations.pb.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"

namespace interlock::client {
namespace {

using std::chrono::nanoseconds;

// One renewal waits no longer than this for its answer: the next try may find a server
// that has come back.
constexpr std::chrono::seconds kLongestRenewal{10};
// Between two looks at the lease: a twentieth of it, within these.
constexpr std::chrono::milliseconds kShortestLook{100};
constexpr std::chrono::seconds kLongestLook{2};
// One look waits no longer, for a renewal may be due.
constexpr absl::Duration kLookTimeout = absl::Seconds(2);

absl::Status DeadlinePassed(const std::string& reservation_id) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "reservation ", reservation_id,
          " could not be renewed in time: counted on this machine's own clock, it is as good as "
          "over")),
      "LEASE_DEADLINE", {{"reservation", reservation_id}});
}

// The server's word in a reservation that is not active, as its refusal of a renewal would be.
absl::Status EndOf(const v1::Reservation& lease) {
  switch (lease.state()) {
    case v1::Reservation::EXPIRED:
    case v1::Reservation::RELEASED:
    case v1::Reservation::FORCED:
    case v1::Reservation::ORPHANED:
      break;
    default:
      return absl::OkStatus();
  }
  const bool forced = !lease.forced_by().empty();
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "reservation ", lease.reservation_id(), " is ",
          v1::Reservation::State_Name(lease.state()),
          forced ? absl::StrCat(": ", lease.forced_by(), " ended it (", lease.force_reason(), ")")
                 : "")),
      forced ? "FORCED" : v1::Reservation::State_Name(lease.state()),
      {{"reservation", lease.reservation_id()}});
}

}  // namespace

LeaseKeeper::LeaseKeeper(Calls& calls, const Clock& clock, const Lease& lease,
                         absl::Duration stop_early, LeaseEvents events)
    : calls_(calls),
      clock_(clock),
      reservation_id_(lease.reservation_id),
      fencing_token_(lease.fencing_token),
      ttl_(lease.ttl),
      events_(std::move(events)),
      timer_(lease.sent, lease.remaining, lease.ttl, absl::ToChronoNanoseconds(stop_early)) {}

nanoseconds LeaseKeeper::Step() {
  nanoseconds now = clock_.Monotonic();
  nanoseconds renewal{0}, stop{0};
  {
    MutexLock lock(mutex_);
    if (!loss_.ok()) return nanoseconds::zero();
    renewal = timer_.next_renewal();
    stop = timer_.stop();
  }
  if (now < stop && renewal <= now) {
    Renew(now);
    now = clock_.Monotonic();
    MutexLock lock(mutex_);
    if (!loss_.ok()) return nanoseconds::zero();
    renewal = timer_.next_renewal();
    stop = timer_.stop();
  }
  if (stop <= now) {
    Lose(DeadlinePassed(reservation_id_));
    return nanoseconds::zero();
  }
  return std::max(std::min(renewal, stop) - now, nanoseconds(1));
}

nanoseconds LeaseKeeper::Tend() {
  const nanoseconds look = Look();
  const nanoseconds step = Step();
  return std::min(look, step);
}

nanoseconds LeaseKeeper::Look() {
  const nanoseconds now = clock_.Monotonic();
  {
    MutexLock lock(mutex_);
    if (!loss_.ok()) return nanoseconds::zero();
  }
  const nanoseconds pause = std::clamp<nanoseconds>(ttl_ / 20, kShortestLook, kLongestLook);
  // Just granted: there is nothing new to see.
  if (next_look_ == nanoseconds::zero()) next_look_ = now + pause;
  if (now < next_look_) return next_look_ - now;
  next_look_ = now + pause;
  const absl::Status end = AskForEnd(calls_, reservation_id_, kLookTimeout);
  if (end.ok()) return pause;
  Lose(end);
  return nanoseconds::zero();
}

nanoseconds LeaseKeeper::Notice() {
  const nanoseconds now = clock_.Monotonic();
  {
    MutexLock lock(mutex_);
    if (!loss_.ok()) return nanoseconds::zero();
    if (now < timer_.stop()) return timer_.stop() - now;
  }
  Lose(DeadlinePassed(reservation_id_));
  return nanoseconds::zero();
}

absl::Status AskForEnd(Calls& calls, const std::string& reservation_id, absl::Duration timeout) {
  v1::GetReservationRequest request;
  request.set_reservation_id(reservation_id);
  v1::GetReservationResponse reply;
  const absl::Status status = calls.Call("Reservations.GetReservation", request, reply, timeout);
  if (!status.ok()) return EndsLease(status) ? status : absl::OkStatus();
  return EndOf(reply.reservation());
}

void LeaseKeeper::Renew(nanoseconds now) {
  nanoseconds left{0};
  {
    MutexLock lock(mutex_);
    left = timer_.stop() - now;
  }
  v1::RenewReservationRequest request;
  request.set_reservation_id(reservation_id_);
  request.set_fencing_token(fencing_token_);
  ToProto(ttl_, *request.mutable_ttl());
  v1::RenewReservationResponse reply;
  const absl::Status status =
      calls_.Call("Reservations.RenewReservation", request, reply,
                  absl::FromChrono(std::min<nanoseconds>(left, kLongestRenewal)));
  if (!status.ok() && EndsLease(status)) return Lose(status);
  {
    MutexLock lock(mutex_);
    // Too late: the owner has been told, and what was lost stays lost (case 121).
    if (!loss_.ok()) return;
    renewal_ = status;
    if (status.ok()) return timer_.Renewed(now, FromProto(reply.reservation().remaining()));
    timer_.Failed(clock_.Monotonic());
  }
  if (events_.renewal_failed) events_.renewal_failed(status, this->left());
}

void LeaseKeeper::Lose(const absl::Status& why) {
  {
    MutexLock lock(mutex_);
    if (!loss_.ok()) return;
    loss_ = why;
  }
  if (events_.lost) events_.lost(why);
}

bool LeaseKeeper::held() const {
  MutexLock lock(mutex_);
  return loss_.ok() && clock_.Monotonic() < timer_.stop();
}

absl::Status LeaseKeeper::LossLocked() const {
  if (!loss_.ok() || clock_.Monotonic() < timer_.stop()) return loss_;
  return DeadlinePassed(reservation_id_);
}

absl::Status LeaseKeeper::loss() const {
  MutexLock lock(mutex_);
  return LossLocked();
}

absl::Status LeaseKeeper::renewal() const {
  MutexLock lock(mutex_);
  const absl::Status loss = LossLocked();
  return loss.ok() ? renewal_ : loss;
}

absl::Duration LeaseKeeper::left() const {
  MutexLock lock(mutex_);
  if (!loss_.ok()) return absl::ZeroDuration();
  return std::max(absl::FromChrono(timer_.stop() - clock_.Monotonic()), absl::ZeroDuration());
}

absl::Duration LeaseKeeper::until_end() const {
  MutexLock lock(mutex_);
  return absl::FromChrono(timer_.deadline() - clock_.Monotonic());
}

}  // namespace interlock::client
