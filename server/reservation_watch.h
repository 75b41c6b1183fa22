// WatchReservations: first what is so, or what happened since a revision, then what happens.
//
// A watch keeps no queue: it reads what came after the revision that it told last, some
// hundred events at a time, and reads on when those are sent. A caller that reads so slowly
// that the log has forgotten what comes next is told REVISION_TOO_OLD and begins anew.
//
// Threads: the watcher is one thread for all watches; messages go out on gRPC's.
#pragma once

#include <memory>
#include <thread>

#include "grpcpp/support/server_callback.h"
#include "interlock/v1/reservations.pb.h"
#include "lib/store/store.h"
#include "server/bell.h"
#include "server/watch.h"

namespace interlock::server {

class ReservationWatcher {
 public:
  // `store` must outlive it.
  explicit ReservationWatcher(store::Store& store);
  ~ReservationWatcher();

  // Ends all watches, and those that still come, with UNAVAILABLE.
  void End() { watches_.End(); }

  grpc::ServerWriteReactor<v1::WatchReservationsResponse>* Watch(
      const v1::WatchReservationsRequest& request);

 private:
  void Run();

  store::Store& store_;
  Watches<v1::WatchReservationsResponse> watches_;
  Bell bell_;
  std::unique_ptr<store::Listening> listening_;
  std::thread thread_;
};

}  // namespace interlock::server
