// ReserveInterval calls that wait in line for what others hold, and those that nobody could ask
// for again: granted to a caller who has gone, what has no request id is given back.
//
// A call that was given a place (lib/lease/waiting.h) is tried again when something has
// changed in its datasource, when what is in its way ends by itself, and every
// lease::kWaitAgain, which is also its heartbeat. When its caller goes away its place goes,
// too. When the server drains the call ends with UNAVAILABLE and the place stays for
// lease::kWaiterAlive: the same request id takes it again.
//
// Threads: any; one thread of its own for all calls.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "grpcpp/support/server_callback.h"
#include "lib/audit/caller.h"
#include "lib/lease/reservation.h"
#include "lib/store/store.h"
#include "lib/time/mutex.h"
#include "server/bell.h"

namespace interlock::server {

class WaitingCall;

class WaitingLine {
 public:
  // Tries of one datasource's calls are at least so far apart, however much happens there.
  static constexpr std::chrono::milliseconds kApart{25};

  // `store` must outlive it.
  explicit WaitingLine(store::Store& store);
  ~WaitingLine();

  // Ends all calls that wait, and those that would from now on.
  void End();

  // Reserves, or waits in line until it can. `told` gets the answer before the call ends
  // with it.
  grpc::ServerUnaryReactor* Serve(lease::ReserveRequest request, audit::Caller caller,
                                  lease::Limits limits,
                                  std::function<void(const absl::StatusOr<lease::Grant>&)> told);

 private:
  friend class WaitingCall;
  using Time = std::chrono::steady_clock::time_point;

  void Run();
  std::chrono::nanoseconds UntilDue();
  void Remove(WaitingCall* call);
  // The datasources with calls whose revision is another than when last looked.
  std::set<std::string> Changed();
  void LookAll(const std::set<std::string>& changed);

  store::Store& store_;
  Mutex mutex_;
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::set<WaitingCall*> calls_ INTERLOCK_GUARDED_BY(mutex_);
  std::map<std::string, int64_t> revisions_;  // of the thread alone
  Bell bell_;
  std::unique_ptr<store::Listening> listening_;
  std::thread thread_;
};

}  // namespace interlock::server
