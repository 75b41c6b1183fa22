#include "lib/backfill/mark_leave.h"

#include <chrono>

#include "absl/time/time.h"
#include "lib/lease/reservations.h"

namespace interlock::backfill {

absl::StatusOr<bool> TakeMarkLeave(
    const Runner::World& world, const Options& options, work::Claim& claim, const MarkCall& call,
    const std::function<absl::Status(store::Transaction& tx)>& store_intent) {
  if (claim.Remaining(world.clock) <= options.call_deadline) {
    absl::Status status = work::Extend(world.store, world.clock, claim, options.call_deadline * 3);
    if (!status.ok()) return status;
  }
  const auto before = world.clock.Monotonic();
  std::chrono::nanoseconds lease_ends{0};
  absl::Status status = world.store.Write([&](store::Transaction& tx) -> absl::Status {
    if (absl::Status held = work::CheckClaim(tx, claim); !held.ok()) return held;
    lease::Pin pin;
    pin.work_id = call.work_id;
    pin.interval = call.partition;
    pin.link = call.link;
    absl::Status pinned = lease::PinWork(tx, call.reservation_id, call.token, pin);
    if (!pinned.ok()) return pinned;
    auto reservation = lease::Get(tx, call.reservation_id);
    if (!reservation.ok()) return reservation.status();
    lease_ends = before + absl::ToChronoNanoseconds(reservation->deadline - tx.now());
    return store_intent(tx);
  });
  if (!status.ok()) return status;
  world.changes.Ring();
  const absl::Duration left = absl::FromChrono(lease_ends - world.clock.Monotonic());
  return left > options.call_deadline && claim.Remaining(world.clock) > options.call_deadline;
}

}  // namespace interlock::backfill
