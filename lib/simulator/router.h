// Which handler answers which method and path.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/simulator/message.h"
#include "lib/simulator/segment_table.h"
#include "lib/simulator/task.h"
#include "lib/simulator/world.h"

namespace interlock::simulator {

// What a handler is given. `stale` is a fault's: segments as they once were.
struct Call {
  World& world;
  const Request& request;
  std::map<std::string, std::string> params;  // of the path's {name} parts
  TaskFate fate = TaskFate::kHonest;
  const Snapshot* stale = nullptr;

  const std::string& Param(const std::string& name) const { return params.at(name); }
};

using Handler = std::function<Reply(Call&)>;

class Router {
 public:
  enum class Effect { kRead, kWrite };

  // `pattern` is a path whose {name} parts match one segment each.
  void Add(const std::string& method, const std::string& pattern, Effect effect, Handler handler);

  struct Match {
    const Handler* handler = nullptr;  // null: no such path, or not this method
    bool path_known = false;
    Effect effect = Effect::kRead;
    std::map<std::string, std::string> params;
  };
  Match Find(const std::string& method, const std::string& path) const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> parts;
    Effect effect;
    Handler handler;
  };
  static bool Matches(const Route& route, const std::vector<std::string>& parts,
                      std::map<std::string, std::string>& params);

  std::vector<Route> routes_;
};

// The whole API of a version, one subject each.
Router DruidRoutes(const Traits& traits);
void AddStatusRoutes(Router& router, const Traits& traits);
void AddSupervisorRoutes(Router& router);
void AddTaskRoutes(Router& router);
void AddLockRoutes(Router& router, const Traits& traits);
void AddMetadataRoutes(Router& router, const Traits& traits);
void AddMarkRoutes(Router& router, const Traits& traits);
void AddServedRoutes(Router& router);
void AddConfigRoutes(Router& router);
void AddQueryRoutes(Router& router);

}  // namespace interlock::simulator
