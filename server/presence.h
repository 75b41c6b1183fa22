// Says in a shared store that this server is there, so that the status of each names the
// others. Of no consequence for what is granted.
//
// Threads: one of its own.
#pragma once

#include <string>
#include <thread>

#include "lib/store/store.h"
#include "lib/time/mutex.h"

namespace interlock::server {

class Presence {
 public:
  // `store` must outlive it. `address`: where this server listens.
  Presence(store::Store& store, const std::string& address);
  ~Presence();

  // HOST/ADDRESS: the host's name, a pod's in a cluster, tells replicas apart that all
  // listen on the same address.
  const std::string& name() const { return name_; }

 private:
  void Run();

  store::Store& store_;
  const std::string name_;
  Mutex mutex_;
  CondVar wake_;
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace interlock::server
