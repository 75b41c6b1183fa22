// The Reservations service: leases after they were granted.
#pragma once

#include "interlock/v1/reservations.grpc.pb.h"
#include "lib/lease/lock_names.h"
#include "lib/lease/reservations.h"
#include "lib/store/store.h"
#include "server/lease_settings.h"
#include "server/reservation_watch.h"

namespace interlock::server {

class ReservationsService final : public v1::Reservations::CallbackService {
 public:
  // All must outlive the service.
  ReservationsService(store::Store& store, const LeaseSettings& settings,
                      ReservationWatcher& watcher);

  grpc::ServerUnaryReactor* RenewReservation(grpc::CallbackServerContext* context,
                                             const v1::RenewReservationRequest* request,
                                             v1::RenewReservationResponse* response) override;
  grpc::ServerUnaryReactor* ReleaseReservation(grpc::CallbackServerContext* context,
                                               const v1::ReleaseReservationRequest* request,
                                               v1::ReleaseReservationResponse* response) override;
  grpc::ServerUnaryReactor* GetReservation(grpc::CallbackServerContext* context,
                                           const v1::GetReservationRequest* request,
                                           v1::GetReservationResponse* response) override;
  grpc::ServerUnaryReactor* ListReservations(grpc::CallbackServerContext* context,
                                             const v1::ListReservationsRequest* request,
                                             v1::ListReservationsResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchReservationsResponse>* WatchReservations(
      grpc::CallbackServerContext* context, const v1::WatchReservationsRequest* request) override;
  grpc::ServerUnaryReactor* ForceReleaseReservation(
      grpc::CallbackServerContext* context, const v1::ForceReleaseReservationRequest* request,
      v1::ForceReleaseReservationResponse* response) override;

 private:
  store::Store& store_;
  const LeaseSettings& settings_;
  lease::LockNames lock_names_;
  ReservationWatcher& watcher_;
};

}  // namespace interlock::server
