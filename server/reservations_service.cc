#include "server/reservations_service.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/lease/events.h"
#include "lib/lease/waiting.h"
#include "server/caller.h"
#include "server/conversions/reservation.h"
#include "server/conversions/time.h"
#include "server/list_writer.h"
#include "server/page_token.h"
#include "server/status_conversion.h"
#include "server/unary.h"

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
    if (state == v1::Reservation::WAITING) continue;
    filter.states.push_back(FromProto(static_cast<v1::Reservation::State>(state)));
  }
  return filter;
}

bool Wants(const v1::ListReservationsRequest& request, v1::Reservation::State state) {
  const auto& states = request.states();
  return states.empty() || std::find(states.begin(), states.end(), state) != states.end();
}

// Those in line have no start of their own yet: they come first, by place.
absl::Status AddWaiters(store::Transaction& tx, const lease::Filter& filter,
                        v1::ListReservationsResponse* response) {
  auto line =
      lease::ListWaiters(tx, filter.datasource, filter.overlapping, filter.holder, kMaxPageSize);
  if (!line.ok()) return line.status();
  for (const auto& waiter : *line) ToProto(waiter, tx.now(), response->add_reservations());
  return absl::OkStatus();
}

absl::Status AddOthers(store::Transaction& tx, const lease::Filter& filter,
                       const lease::Limits& limits, v1::ListReservationsResponse* response) {
  if (filter.datasource.empty()) return absl::OkStatus();
  const Interval asked = filter.overlapping.value_or(Interval::Eternity());
  auto others = lease::FindOthers(tx, filter.datasource, {asked}, limits);
  auto revision = lease::RevisionOf(tx, filter.datasource);
  if (!others.ok() || !revision.ok()) return others.ok() ? revision.status() : others.status();
  for (const auto& other : *others) ToProto(other, response->add_others());
  response->set_revision(*revision);
  return absl::OkStatus();
}

absl::Status AddPage(store::Transaction& tx, const v1::ListReservationsRequest& request,
                     const lease::Filter& filter, int size,
                     v1::ListReservationsResponse* response) {
  // Asked for WAITING alone: those were all.
  if (!request.states().empty() && filter.states.empty()) return absl::OkStatus();
  const auto place = PagePlace(request);
  if (!place.ok()) return place.status();
  auto listed = lease::List(tx, filter, {size, *place});
  if (!listed.ok()) return listed.status();
  for (const auto& reservation : listed->reservations) {
    ToProto(reservation, tx.now(), response->add_reservations());
  }
  response->set_next_page_token(PageToken(request, listed->next));
  return absl::OkStatus();
}

}  // namespace

ReservationsService::ReservationsService(store::Store& store, const LeaseSettings& settings,
                                         ReservationWatcher& watcher)
    : store_(store), settings_(settings), watcher_(watcher) {}

grpc::ServerUnaryReactor* ReservationsService::RenewReservation(
    grpc::CallbackServerContext* context, const v1::RenewReservationRequest* request,
    v1::RenewReservationResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (!Bounded(*request, reactor)) return reactor;
  lease::RenewAsync(store_, request->reservation_id(), request->fencing_token(),
                    request->has_ttl() ? std::optional(FromProto(request->ttl())) : std::nullopt,
                    CallerOf(*context, "", ""), settings_.now()->limits,
                    Answer(reactor, store_, response), &lock_names_);
  return reactor;
}

grpc::ServerUnaryReactor* ReservationsService::ReleaseReservation(
    grpc::CallbackServerContext* context, const v1::ReleaseReservationRequest* request,
    v1::ReleaseReservationResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (!Bounded(*request, reactor)) return reactor;
  auto part = FromProto(request->intervals(), "intervals", /*optional=*/true);
  if (!part.ok()) {
    reactor->Finish(ToGrpc(part.status()));
    return reactor;
  }
  lease::ReleaseAsync(store_, request->reservation_id(), request->fencing_token(),
                      std::move(part->intervals), CallerOf(*context, "", ""),
                      Answer(reactor, store_, response), &lock_names_);
  return reactor;
}

grpc::ServerUnaryReactor* ReservationsService::GetReservation(
    grpc::CallbackServerContext* context, const v1::GetReservationRequest* request,
    v1::GetReservationResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (!Bounded(*request, reactor)) return reactor;
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
  if (!Bounded(*request, reactor)) return reactor;
  auto filter = FilterOf(*request);
  if (!filter.ok()) {
    reactor->Finish(ToGrpc(filter.status()));
    return reactor;
  }
  const int size =
      request->page_size() <= 0 ? kDefaultPageSize : std::min(request->page_size(), kMaxPageSize);
  reactor->Finish(ToGrpc(store_.Read([&](store::Transaction& tx) {
    response->Clear();
    if (Wants(*request, v1::Reservation::WAITING) && request->page_token().empty()) {
      auto status = AddWaiters(tx, *filter, response);
      if (!status.ok()) return status;
    }
    if (request->page_token().empty()) {
      auto status = AddOthers(tx, *filter, settings_.now()->limits, response);
      if (!status.ok()) return status;
    }
    return AddPage(tx, *request, *filter, size, response);
  })));
  return reactor;
}

grpc::ServerWriteReactor<v1::WatchReservationsResponse>* ReservationsService::WatchReservations(
    grpc::CallbackServerContext*, const v1::WatchReservationsRequest* request) {
  const absl::Status bounded = CheckBounds(*request);
  if (bounded.ok()) return watcher_.Watch(*request);
  return new ListWriter<v1::WatchReservationsResponse>({}, ToGrpc(bounded));
}

grpc::ServerUnaryReactor* ReservationsService::ForceReleaseReservation(
    grpc::CallbackServerContext* context, const v1::ForceReleaseReservationRequest* request,
    v1::ForceReleaseReservationResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (!Bounded(*request, reactor)) return reactor;
  lease::ForceReleaseAsync(store_, request->reservation_id(),
                           CallerOf(*context, request->request_id(), request->reason()),
                           Answer(reactor, store_, response), &lock_names_);
  return reactor;
}

}  // namespace interlock::server
