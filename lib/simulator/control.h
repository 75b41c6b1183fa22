// The simulator's own paths, for tests:
//
//   GET    /simulator/state             segments, tasks and locks
//   GET    /simulator/requests          what was asked; ?since&method&path&writes&bodies
//   DELETE /simulator/requests
//   GET    /simulator/faults            with how often each matched and hit
//   POST   /simulator/faults            fault_board.h; answers {"id":n}
//   DELETE /simulator/faults[/{id}]
//   POST   /simulator/restart-overlord  {"refused_ms","redirect_ms","unavailable_ms"}: the
//                                       lengths of the phases, one after another
//   POST   /simulator/clock             {"advance_ms"} time passes; {"wall_skew_ms"} Druid's
//                                       wall clock stands wrong by so much; {"date_skew_ms"}
//                                       only its Date header does
//   POST   /simulator/loading           {"paused":bool}: historicals load nothing
//   POST   /simulator/duties            {"mark_overshadowed_after_ms":n|null}
//   POST   /simulator/locks             {"group","datasource","interval","priority","type"}:
//                                       a lock that a stream would hold
//   DELETE /simulator/locks/{group}
//   POST   /simulator/topics            {"topic","rows":["…"]}: messages for supervisors
#pragma once

#include "lib/simulator/fault_board.h"
#include "lib/simulator/message.h"
#include "lib/simulator/request_log.h"
#include "lib/simulator/world.h"

namespace interlock::simulator {

struct ClockSkew {
  Moment advanced{0};  // both clocks
  Moment wall{0};
  Moment date{0};
};

// What the control paths act on.
struct Backstage {
  World& world;
  FaultBoard& faults;
  RequestLog& log;
  ClockSkew& skew;
};

Reply ServeControl(Backstage& backstage, const Request& request);

}  // namespace interlock::simulator
