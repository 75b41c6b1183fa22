// WatchBackfill: first what is so, then what happens, until nothing more will.
//
// The watch keeps no queue: it reads what changed after the revision that it told last, so
// a slow caller gets fewer, later messages and loses nothing.
//
// Threads: the watcher is one thread for all watches; messages go out on gRPC's.
#pragma once

#include <thread>

#include "grpcpp/support/server_callback.h"
#include "interlock/v1/backfills.pb.h"
#include "lib/backfill/backfills.h"
#include "server/watch.h"

namespace interlock::server {

class BackfillWatcher {
 public:
  // `backfills` must outlive it.
  explicit BackfillWatcher(backfill::Backfills& backfills);
  ~BackfillWatcher();

  // Ends all watches, and those that still come, with UNAVAILABLE: they would hold up a
  // drain until its deadline.
  void End();

  grpc::ServerWriteReactor<v1::WatchBackfillResponse>* Watch(
      const v1::WatchBackfillRequest& request);

 private:
  void Run();

  backfill::Backfills& backfills_;
  Watches<v1::WatchBackfillResponse> watches_;
  std::thread thread_;
};

}  // namespace interlock::server
