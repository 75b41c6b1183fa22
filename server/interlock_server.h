// interlockd, all of it, as one object: the store, the Druid adapter, the workers, the
// gRPC services and the admin port, made in that order and ended in the other.
//
// Threads: Start, Reload and Drain from one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/time/clock.h"

namespace interlock::server {

class InterlockServer {
 public:
  // Waits so long; false where the server is to stop.
  using Pause = std::function<bool(absl::Duration)>;

  // `config` has its defaults and has been checked; `clock` must outlive the server.
  // Errors say which part could not be made, and what would do. With `pause`, a shared
  // database that does not answer is waited for (postgresql.start_timeout), with the admin
  // port open: alive, not ready. CANCELLED where `pause` said so.
  static absl::StatusOr<std::unique_ptr<InterlockServer>> Start(
      const config::v1::ServerConfig& config, const Clock& clock, const Pause& pause = nullptr);
  ~InterlockServer();

  // Takes no new calls, lets those under way end (at most drain_timeout), stops the
  // workers between two steps. What is not done goes on at the next start.
  void Drain();

  // Takes over what can change while it runs, as config.proto says of each field. Gives the
  // fields that differ from what is in force and wait for a restart: "limits.max_spec_bytes".
  std::vector<std::string> Reload(const config::v1::ServerConfig& config);

  // As bound: for port 0 the one that was taken.
  std::string address() const;
  std::string admin_address() const;

 private:
  class Parts;
  explicit InterlockServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace interlock::server
