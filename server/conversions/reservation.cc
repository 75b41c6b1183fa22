#include "server/conversions/reservation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/conversions/time.h"

namespace interlock::server {
namespace {

v1::Reservation::State ToProto(lease::State state) {
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
  }
  return v1::Reservation::STATE_UNSPECIFIED;
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
  proto->set_state(ToProto(reservation.state));
  proto->set_fencing_token(reservation.token);
  proto->set_holder(reservation.holder);
  proto->set_purpose(reservation.purpose);
  proto->set_reason(reservation.reason);
  proto->mutable_labels()->insert(reservation.labels.begin(), reservation.labels.end());
  proto->set_request_id(reservation.request_id);
  ToProto(reservation.created, proto->mutable_create_time());
  ToProto(reservation.created, proto->mutable_grant_time());
  ToProto(reservation.deadline, proto->mutable_expire_time());
  ToProto(std::max(reservation.deadline - now, absl::ZeroDuration()), proto->mutable_remaining());
  if (reservation.ended) ToProto(*reservation.ended, proto->mutable_end_time());
  for (const auto& pin : reservation.pins) proto->add_live_task_ids(pin.work_id);
}

void ToProto(const lease::Held& held, v1::Blocker* proto) {
  proto->set_kind(held.orphaned ? v1::Blocker::ORPHAN : v1::Blocker::RESERVATION);
  proto->set_reason(held.orphaned ? "ORPHANED" : "HELD");
  proto->set_interval(held.interval.ToString());
  proto->set_holder(held.holder);
  proto->set_purpose(held.purpose);
  ToProto(held.since, proto->mutable_since_time());
  if (!held.orphaned) ToProto(held.until, proto->mutable_until_time());
  proto->set_reservation_id(held.reservation_id);
  proto->set_task_id(held.work_id);
  proto->set_blocking(true);
  proto->set_message(held.orphaned
                         ? absl::StrCat("work of an ended reservation of ", held.holder,
                                        " is not settled: ", held.link)
                         : absl::StrCat("held by ", held.holder, " until ", held.until.ToString()));
  proto->set_remedy(held.orphaned ? "wait until it is proven, or have an admin abandon it"
                                  : "ask again after that time, or ask the holder");
}

}  // namespace interlock::server
