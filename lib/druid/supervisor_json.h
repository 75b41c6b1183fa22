// Supervisors in the overlord's replies. Functions without state.
#pragma once

#include "lib/druid/supervisor.h"
#include "rapidjson/document.h"

namespace interlock::druid {

// An element of /supervisor?full: the state beside the spec.
Supervisor ReadSupervisor(const rapidjson::Value& element);
// A spec, as posted or as /supervisor/ID gives it.
Supervisor ReadSupervisorSpec(const rapidjson::Value& spec);
// The reply of /supervisor/ID/status.
SupervisorHealth ReadSupervisorHealth(const rapidjson::Value& reply);
// The reply of /supervisor/ID/stats: task group → task → counters.
std::map<std::string, StreamCounts> ReadStreamCounts(const rapidjson::Value& reply);

}  // namespace interlock::druid
