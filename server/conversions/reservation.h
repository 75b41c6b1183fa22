// Reservations between the wire and lib/lease.
#pragma once

#include "absl/status/statusor.h"
#include "interlock/v1/blocker.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "interlock/v1/reservation.pb.h"
#include "interlock/v1/reservations.pb.h"
#include "lib/lease/events.h"
#include "lib/lease/reservation.h"

namespace interlock::server {

// `now` is the store's clock, for `remaining`.
void ToProto(const lease::Reservation& reservation, Instant now, v1::Reservation* proto);
void ToProto(const lease::Held& held, v1::Blocker* proto);
lease::State FromProto(v1::Reservation::State state);
v1::WatchReservationsResponse::Event ToProto(lease::EventKind kind);

}  // namespace interlock::server
