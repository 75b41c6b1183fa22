#include "server/conversions/reservation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/conversions/time.h"

namespace interlock::server {
namespace {

v1::Reservation::State StateToProto(lease::State state) {
  switch (state) {
    case lease::State::kActive:
      return v1::Reservation::ACTIVE;
    case lease::State::kExpired:
      return v1::Reservation::EXPIRED;
    case lease::State::kReleased:
      return v1::Reservation::RELEASED;
    case lease::State::kForced:
      return v1::Reservation::FORCED;
    case lease::State::kOrphaned:
      return v1::Reservation::ORPHANED;
    case lease::State::kWaiting:
      return v1::Reservation::WAITING;
  }
  return v1::Reservation::STATE_UNSPECIFIED;
}

v1::Blocker::Kind KindOf(lease::HeldBy by) {
  switch (by) {
    case lease::HeldBy::kReservation:
      return v1::Blocker::RESERVATION;
    case lease::HeldBy::kOrphan:
      return v1::Blocker::ORPHAN;
    case lease::HeldBy::kLockDelay:
      return v1::Blocker::LOCK_DELAY;
    case lease::HeldBy::kWaiter:
      return v1::Blocker::WAITER;
    case lease::HeldBy::kTail:
      return v1::Blocker::TAIL;
    case lease::HeldBy::kSeal:
      return v1::Blocker::SEAL;
    case lease::HeldBy::kDrop:
      return v1::Blocker::DROP;
  }
  return v1::Blocker::KIND_UNSPECIFIED;
}

// What people read of it: reason, message and remedy.
struct Words {
  std::string reason, message, remedy;
};

Words WordsOf(const lease::Held& held) {
  const std::string until = held.until.ToString();
  switch (held.by) {
    case lease::HeldBy::kReservation:
      return {"HELD", absl::StrCat("held by ", held.holder, " until ", until),
              "ask again after that time, or ask the holder"};
    case lease::HeldBy::kOrphan:
      return {"ORPHANED",
              absl::StrCat("work of an ended reservation of ", held.holder,
                           " is not settled: ", held.link),
              "wait until it is proven, or have an admin abandon it"};
    case lease::HeldBy::kLockDelay:
      return {"LOCK_DELAY",
              absl::StrCat("the reservation of ", held.holder,
                           " expired, and its holder may not have noticed"),
              absl::StrCat("ask again at ", until)};
    case lease::HeldBy::kWaiter:
      return {"BEHIND_WAITER", absl::StrCat(held.holder, " has waited for it before"),
              "wait in line behind it, or ask for other time"};
    case lease::HeldBy::kTail:
    case lease::HeldBy::kSeal:
    case lease::HeldBy::kDrop:
      break;
  }
  return {held.reason, held.message, held.remedy};
}

// Where `link` begins with `kind`, what follows: the id.
std::string IdAfter(absl::string_view link, absl::string_view kind) {
  if (!absl::ConsumePrefix(&link, kind)) return "";
  return std::string(link.substr(0, link.find(',')));
}

void AddTimes(const lease::Reservation& reservation, Instant now, v1::Reservation* proto) {
  const bool waits = reservation.state == lease::State::kWaiting;
  ToProto(reservation.created, proto->mutable_create_time());
  ToProto(reservation.ttl, proto->mutable_ttl());
  if (waits) {
    ToProto(reservation.deadline, proto->mutable_wait_until_time());
    proto->set_queue_position(static_cast<int32_t>(reservation.position));
    return;
  }
  ToProto(reservation.created, proto->mutable_grant_time());
  ToProto(reservation.deadline, proto->mutable_expire_time());
  // Nothing is left of one that is over, also where its deadline is still to come.
  const bool active = reservation.state == lease::State::kActive;
  ToProto(
      active ? std::max(reservation.deadline - now, absl::ZeroDuration()) : absl::ZeroDuration(),
      proto->mutable_remaining());
  if (reservation.ended) ToProto(*reservation.ended, proto->mutable_end_time());
  if (reservation.free) ToProto(*reservation.free, proto->mutable_free_time());
}

}  // namespace

lease::State FromProto(v1::Reservation::State state) {
  switch (state) {
    case v1::Reservation::EXPIRED:
      return lease::State::kExpired;
    case v1::Reservation::RELEASED:
      return lease::State::kReleased;
    case v1::Reservation::FORCED:
      return lease::State::kForced;
    case v1::Reservation::ORPHANED:
      return lease::State::kOrphaned;
    case v1::Reservation::WAITING:
      return lease::State::kWaiting;
    default:
      return lease::State::kActive;
  }
}

void ToProto(const lease::Reservation& reservation, Instant now, v1::Reservation* proto) {
  proto->set_reservation_id(reservation.id);
  proto->set_datasource(reservation.datasource);
  for (const auto& interval : reservation.intervals) proto->add_intervals(interval.ToString());
  proto->set_mode(reservation.mode == lease::Mode::kAppend ? v1::Reservation::APPEND
                                                           : v1::Reservation::REPLACE);
  proto->set_state(StateToProto(reservation.state));
  proto->set_fencing_token(reservation.token);
  proto->set_holder(reservation.holder);
  proto->set_purpose(reservation.purpose);
  proto->set_reason(reservation.reason);
  proto->mutable_labels()->insert(reservation.labels.begin(), reservation.labels.end());
  proto->set_request_id(reservation.request_id);
  AddTimes(reservation, now, proto);
  for (const std::string& link : reservation.links) {
    const std::string backfill = IdAfter(link, "backfills/");
    const std::string drop = IdAfter(link, "drops/");
    if (!backfill.empty()) proto->set_backfill_id(backfill);
    if (!drop.empty()) proto->set_drop_id(drop);
  }
  for (const auto& pin : reservation.pins) proto->add_live_task_ids(pin.work_id);
  proto->set_forced_by(reservation.forced_by);
  proto->set_force_reason(reservation.force_reason);
  if (reservation.calendar) {
    ToProto(*reservation.calendar, proto->mutable_segment_granularity());
  }
  proto->set_revision(reservation.revision);
  if (reservation.state == lease::State::kActive || reservation.state == lease::State::kOrphaned) {
    for (const auto& part : reservation.released) {
      proto->add_released_intervals(part.ToString());
    }
  }
}

void ToProto(const lease::Held& held, v1::Blocker* proto) {
  Words words = WordsOf(held);
  proto->set_kind(KindOf(held.by));
  proto->set_reason(std::move(words.reason));
  proto->set_interval(held.interval.ToString());
  proto->set_holder(held.holder);
  proto->set_purpose(held.purpose);
  ToProto(held.since, proto->mutable_since_time());
  if (!held.orphaned && held.until != Instant::kMax) {
    ToProto(held.until, proto->mutable_until_time());
  }
  proto->set_reservation_id(held.reservation_id);
  proto->set_backfill_id(IdAfter(held.link, "backfills/"));
  proto->set_drop_id(IdAfter(held.link, "drops/"));
  proto->set_seal_id(IdAfter(held.link, "seals/"));
  proto->set_task_id(held.work_id);
  proto->set_blocking(true);
  proto->set_message(std::move(words.message));
  proto->set_remedy(std::move(words.remedy));
}

v1::WatchReservationsResponse::Event ToProto(lease::EventKind kind) {
  switch (kind) {
    case lease::EventKind::kGranted:
      return v1::WatchReservationsResponse::GRANTED;
    case lease::EventKind::kRenewed:
      return v1::WatchReservationsResponse::RENEWED;
    case lease::EventKind::kReleased:
      return v1::WatchReservationsResponse::RELEASED;
    case lease::EventKind::kExpired:
      return v1::WatchReservationsResponse::EXPIRED;
    case lease::EventKind::kOrphaned:
      return v1::WatchReservationsResponse::ORPHANED;
    case lease::EventKind::kForced:
      return v1::WatchReservationsResponse::FORCED;
    case lease::EventKind::kSettled:
      return v1::WatchReservationsResponse::SETTLED;
    case lease::EventKind::kWaiting:
      return v1::WatchReservationsResponse::WAITING;
    case lease::EventKind::kGaveUp:
      return v1::WatchReservationsResponse::GAVE_UP;
  }
  return v1::WatchReservationsResponse::EVENT_UNSPECIFIED;
}

}  // namespace interlock::server
