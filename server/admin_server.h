// The admin port, HTTP: /metrics for Prometheus, /healthz (the process lives), /readyz
// (it can grant), / (the timeline page). It changes nothing and takes no body.
//
// Threads: CivetWeb's own few; the callbacks must bear being called from any.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/metrics.h"

namespace interlock::server {

struct AdminOptions {
  std::string address;  // "127.0.0.1:7431"; port 0 takes a free one
  // OK: ready to grant. Else why not; the text goes into the reply.
  std::function<absl::Status()> ready;
  // Brings gauges up to date before a scrape.
  std::function<void()> before_scrape;
  // The page of a datasource, or ("") of none, as HTML; else why there is none now.
  std::function<absl::StatusOr<std::string>(const std::string& datasource)> page;
};

class AdminServer {
 public:
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(AdminOptions options,
                                                            const Metrics& metrics);
  ~AdminServer();
  int port() const;

 private:
  class Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace interlock::server
