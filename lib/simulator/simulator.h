// A small Druid in memory, behind real HTTP on loopback: coordinator, overlord and broker
// on one port, speaking as one of the versions that were measured.
//
// It stands in for Druid in `--dev` and in fault tests, so it is made to be as good and as
// bad as the real one: where the conformance suite finds a difference, the simulator is
// wrong. It shares no code with the adapter under test.
//
// Nothing in it is random: the same requests at the same times get the same answers.
// Beside Druid's paths it has its own, /simulator/…, to switch faults on, move its clock,
// and see what was asked of it (control.h lists them).
//
// Threads: any; one lock guards all state.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/simulator/control.h"
#include "lib/simulator/fault_board.h"
#include "lib/simulator/http_server.h"
#include "lib/simulator/request_log.h"
#include "lib/simulator/router.h"
#include "lib/simulator/world.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"

namespace interlock::simulator {

struct SimulatorOptions {
  int port = 0;  // 0: any free one
  std::string version = "33.0.0";
  // Must outlive the simulator.
  const Clock* clock = nullptr;
  // A thread of its own that does what is due; without it, and with a clock that a test
  // moves, requests and Tick() do.
  bool ticks_by_itself = true;
  // Kept in this file, and read from it at the start; "": in memory only. Needs
  // world.deep_storage. Written before a reply leaves, so that what was acknowledged is
  // known after a crash of the process.
  std::string state_file;
  WorldOptions world;
};

class Simulator {
 public:
  // INVALID_ARGUMENT for a version that was not measured or a state file that is none,
  // UNAVAILABLE for a taken port.
  static absl::StatusOr<std::unique_ptr<Simulator>> Start(SimulatorOptions options);
  ~Simulator();

  int port() const { return server_->port(); }
  std::string address() const;

  // A request without HTTP: any of Druid's or of /simulator/…. Faults that spoil the way
  // back have no way to spoil here; the rest is the same.
  Reply Ask(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& accept = "application/json");
  // The id of the fault; INVALID_ARGUMENT as in FaultBoard::Add.
  absl::StatusOr<int> AddFault(absl::string_view json);
  void ClearFaults();
  std::vector<LoggedRequest> Requests(int64_t since = 0);

  // Brings the cluster up to the clock's now, and opens or closes the port as a restart
  // has it.
  void Tick();
  // Looks at the state, or changes it, under the lock and at the clock's now.
  void WithWorld(const std::function<void(World&)>& look);

 private:
  Simulator(SimulatorOptions options, Traits traits);

  Delivery Serve(const Request& request);
  Delivery ServeDruid(const Request& request) INTERLOCK_REQUIRES(mutex_);
  Delivery ServeFaulty(const Request& request, const Fault& fault, MutexLock& lock)
      INTERLOCK_REQUIRES(mutex_);
  Reply Dispatch(const Request& request, const Fault* fault) INTERLOCK_REQUIRES(mutex_);
  void Advance() INTERLOCK_REQUIRES(mutex_);
  absl::Status Restore() INTERLOCK_EXCLUDES(mutex_);
  void Save() INTERLOCK_REQUIRES(mutex_);
  std::string Date() const INTERLOCK_REQUIRES(mutex_);
  void RunTicker();

  const SimulatorOptions options_;
  const Router router_;

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ INTERLOCK_GUARDED_BY(mutex_) = false;
  World world_ INTERLOCK_GUARDED_BY(mutex_);
  FaultBoard faults_ INTERLOCK_GUARDED_BY(mutex_);
  RequestLog log_ INTERLOCK_GUARDED_BY(mutex_);
  ClockSkew skew_ INTERLOCK_GUARDED_BY(mutex_);
  int64_t saved_revision_ INTERLOCK_GUARDED_BY(mutex_) = 0;

  Mutex listening_mutex_;  // opens and closes the port
  std::unique_ptr<HttpServer> server_;
  std::thread ticker_;
};

}  // namespace interlock::simulator
