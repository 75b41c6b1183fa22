// What the lease table needs done now and then: expiries written down so that watchers hear
// of them, old events and reservations removed, places of dead waiters cleared. Nothing
// that decides depends on it: deadlines are judged when read.
//
// Each piece is small, so that grants never wait for it. Several servers may do it at a
// time.
//
// Threads: one of its own.
#pragma once

#include <string>
#include <thread>

#include "absl/time/time.h"
#include "lib/store/store.h"
#include "lib/time/mutex.h"

namespace interlock::server {

class LeaseHousekeeper {
 public:
  struct Kept {
    absl::Duration events = absl::Hours(1);
    absl::Duration reservations = absl::Hours(24 * 30);
    absl::Duration request_ids = absl::Hours(24);
  };

  // `store` must outlive it.
  LeaseHousekeeper(store::Store& store, Kept kept);
  ~LeaseHousekeeper();

  void Stop();

 private:
  void Run();
  void NoteExpiries();
  void Tidy();
  void TrimEvents();

  store::Store& store_;
  const Kept kept_;
  Mutex mutex_;
  CondVar wake_;
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::string swept_up_to_;  // where the walk over all reservations stands
  std::thread thread_;
};

}  // namespace interlock::server
