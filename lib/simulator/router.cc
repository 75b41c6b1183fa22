#include "lib/simulator/router.h"

#include <utility>

#include "absl/strings/str_split.h"

namespace interlock::simulator {

void Router::Add(const std::string& method, const std::string& pattern, Effect effect,
                 Handler handler) {
  routes_.push_back({method, absl::StrSplit(pattern, '/'), effect, std::move(handler)});
}

Router::Match Router::Find(const std::string& method, const std::string& path) const {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  Match match;
  for (const Route& route : routes_) {
    std::map<std::string, std::string> params;
    if (!Matches(route, parts, params)) continue;
    match.path_known = true;
    if (route.method != method) continue;
    match.handler = &route.handler;
    match.effect = route.effect;
    match.params = std::move(params);
    return match;
  }
  return match;
}

bool Router::Matches(const Route& route, const std::vector<std::string>& parts,
                     std::map<std::string, std::string>& params) {
  if (route.parts.size() != parts.size()) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string& wanted = route.parts[i];
    if (!wanted.empty() && wanted.front() == '{') {
      params[wanted.substr(1, wanted.size() - 2)] = parts[i];
    } else if (wanted != parts[i]) {
      return false;
    }
  }
  return true;
}

Router DruidRoutes(const Traits& traits) {
  Router router;
  AddStatusRoutes(router, traits);
  AddSupervisorRoutes(router);
  AddTaskRoutes(router);
  AddLockRoutes(router, traits);
  AddMetadataRoutes(router, traits);
  AddMarkRoutes(router, traits);
  AddServedRoutes(router);
  AddConfigRoutes(router);
  AddQueryRoutes(router);
  return router;
}

}  // namespace interlock::simulator
