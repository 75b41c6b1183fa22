// What the configuration says of leases, as it is now: read by every call, and taken over
// anew on SIGHUP. A lease that was granted keeps what it was granted with.
//
// Threads: any.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/lease/reservation.h"
#include "lib/time/mutex.h"

namespace interlock::server {

// Copies from `from` what of it can change while the server runs.
void TakeLeaseSettings(const config::v1::ServerConfig& from, config::v1::ServerConfig& to);

// The fields in which two configurations differ, "drops.floor", the log's apart.
std::vector<std::string> Differences(const config::v1::ServerConfig& a,
                                     const config::v1::ServerConfig& b);

class LeaseSettings {
 public:
  struct Values {
    lease::Limits limits;
    absl::Duration default_ttl;
  };

  // `config` has its defaults filled in.
  explicit LeaseSettings(const config::v1::ServerConfig& config);

  void Take(const config::v1::ServerConfig& config);
  std::shared_ptr<const Values> now() const;

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const Values> values_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::server
