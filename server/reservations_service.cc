#include "server/reservations_service.h"

#include <string>
#include <utility>
#include <vector>

#include "server/caller.h"
#include "server/conversions/reservation.h"
#include "server/conversions/time.h"
#include "server/status_conversion.h"

namespace interlock::server {
namespace {

constexpr int kMaxPageSize = 1'000;
constexpr int kDefaultPageSize = 100;

// The answer of a call whose reply is one reservation.
template <class Response>
lease::Done<lease::Reservation> Answer(grpc::ServerUnaryReactor* reactor, store::Store& store,
                                       Response* response) {
  return [reactor, &store, response](absl::StatusOr<lease::Reservation> reservation) {
    if (reservation.ok()) {
      ToProto(*reservation, store.Now(), response->mutable_reservation());
    }
    reactor->Finish(ToGrpc(reservation.status()));
  };
}

absl::StatusOr<lease::Filter> FilterOf(const v1::ListReservationsRequest& request) {
  lease::Filter filter;
  filter.datasource = request.datasource();
  auto interval = FromProto(request.interval(), "interval");
  if (!interval.ok()) return interval.status();
  filter.overlapping = *interval;
  filter.holder = request.holder();
  for (const int state : request.states()) {
    filter.states.push_back(FromProto(static_cast<v1::Reservation::State>(state)));
  }
  return filter;
}

}  // namespace

ReservationsService::ReservationsService(store::Store& store, lease::Limits limits,
                                         absl::Duration default_ttl)
    : store_(store), limits_(limits), default_ttl_(default_ttl) {}

grpc::ServerUnaryReactor* ReservationsService::RenewReservation(
    grpc::CallbackServerContext* context, const v1::RenewReservationRequest* request,
    v1::RenewReservationResponse* response) {
  auto* reactor = context->DefaultReactor();
  lease::RenewAsync(store_, request->reservation_id(), request->fencing_token(),
                    request->has_ttl() ? FromProto(request->ttl()) : default_ttl_,
                    CallerOf(*context, "", ""), limits_, Answer(reactor, store_, response));
  return reactor;
}

grpc::ServerUnaryReactor* ReservationsService::ReleaseReservation(
    grpc::CallbackServerContext* context, const v1::ReleaseReservationRequest* request,
    v1::ReleaseReservationResponse* response) {
  auto* reactor = context->DefaultReactor();
  auto answer = Answer(reactor, store_, response);
  const audit::Caller caller = CallerOf(*context, "", "");
  if (request->intervals().empty()) {
    lease::ReleaseAsync(store_, request->reservation_id(), request->fencing_token(), caller,
                        answer);
    return reactor;
  }
  auto part = FromProto(request->intervals(), "intervals");
  if (!part.ok()) {
    reactor->Finish(ToGrpc(part.status()));
    return reactor;
  }
  auto result = std::make_shared<absl::StatusOr<lease::Reservation>>(absl::UnknownError(""));
  store_.WriteAsync(
      [result, request, caller, intervals = part->intervals](store::Transaction& tx) {
        *result = lease::ReleaseIntervals(tx, request->reservation_id(), request->fencing_token(),
                                          intervals, caller);
        return result->status();
      },
      [result, answer](const absl::Status& status) {
        answer(status.ok() ? *result : absl::StatusOr<lease::Reservation>(status));
      });
  return reactor;
}

grpc::ServerUnaryReactor* ReservationsService::GetReservation(
    grpc::CallbackServerContext* context, const v1::GetReservationRequest* request,
    v1::GetReservationResponse* response) {
  auto* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(store_.Read([&](store::Transaction& tx) {
    auto reservation = lease::Get(tx, request->reservation_id());
    if (!reservation.ok()) return reservation.status();
    ToProto(*reservation, tx.now(), response->mutable_reservation());
    return absl::OkStatus();
  })));
  return reactor;
}

grpc::ServerUnaryReactor* ReservationsService::ListReservations(
    grpc::CallbackServerContext* context, const v1::ListReservationsRequest* request,
    v1::ListReservationsResponse* response) {
  auto* reactor = context->DefaultReactor();
  auto filter = FilterOf(*request);
  if (!filter.ok()) {
    reactor->Finish(ToGrpc(filter.status()));
    return reactor;
  }
  const int size =
      request->page_size() <= 0 ? kDefaultPageSize : std::min(request->page_size(), kMaxPageSize);
  reactor->Finish(ToGrpc(store_.Read([&](store::Transaction& tx) {
    auto listed = lease::List(tx, *filter, {size, request->page_token()});
    if (!listed.ok()) return listed.status();
    response->clear_reservations();
    for (const auto& reservation : listed->reservations) {
      ToProto(reservation, tx.now(), response->add_reservations());
    }
    response->set_next_page_token(listed->next);
    return absl::OkStatus();
  })));
  return reactor;
}

grpc::ServerUnaryReactor* ReservationsService::ForceReleaseReservation(
    grpc::CallbackServerContext* context, const v1::ForceReleaseReservationRequest* request,
    v1::ForceReleaseReservationResponse* response) {
  auto* reactor = context->DefaultReactor();
  lease::ForceReleaseAsync(store_, request->reservation_id(),
                           CallerOf(*context, request->request_id(), request->reason()),
                           Answer(reactor, store_, response));
  return reactor;
}

}  // namespace interlock::server
