#include "server/guard_options.h"

#include <string>
#include <vector>

#include "lib/drop/options.h"
#include "server/conversions/time.h"

namespace interlock::server {

guard::Options GuardOptions(const config::v1::ServerConfig& config) {
  guard::Options options;
  options.poll_every = FromProto(config.streams().poll_interval());
  options.append_valid_for = FromProto(config.streams().check_append_valid_for());
  const std::vector<std::string> patterns(config.streams().accept_unbounded_tail().begin(),
                                          config.streams().accept_unbounded_tail().end());
  if (patterns.empty()) return options;
  options.accepts_unbounded = [patterns](const std::string& datasource) {
    for (const std::string& pattern : patterns) {
      if (drop::FitsPattern(pattern, datasource)) return true;
    }
    return false;
  };
  return options;
}

}  // namespace interlock::server
