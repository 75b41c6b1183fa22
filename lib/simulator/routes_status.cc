// /status, leaders, and the overlord's view of workers.
#include "absl/strings/str_cat.h"
#include "lib/simulator/json.h"
#include "lib/simulator/router.h"

namespace interlock::simulator {
namespace {

constexpr auto kRead = Router::Effect::kRead;

Reply Status(Call& call) {
  JsonWriter out;
  out.Object().Member("version", call.world.traits.version);
  out.Key("modules").Array().End();
  out.Key("memory").Object().End().End();
  return Reply::Json(out.Take());
}

Reply IsLeader(Call& call) {
  const World::Leadership leadership = call.world.leadership();
  const bool leads =
      leadership == World::Leadership::kLeader || leadership == World::Leadership::kUnavailable;
  return Reply::Json(leads ? R"({"leader":true})" : R"({"leader":false})", leads ? 200 : 404);
}

Reply Leader(Call& call) {
  // No JSON, whatever the content type says; as measured.
  return Reply::Json(absl::StrCat("http://", call.request.host));
}

}  // namespace

void AddStatusRoutes(Router& router, const Traits&) {
  router.Add("GET", "/status", kRead, Status);
  router.Add("GET", "/status/health", kRead, [](Call&) { return Reply::Json("true"); });
  router.Add("GET", "/status/selfDiscovered", kRead, [](Call&) { return Reply::Empty(200); });
  // Enough of the runtime properties to tell that nothing kills by itself here.
  router.Add("GET", "/status/properties", kRead, [](Call&) {
    return Reply::Json(
        R"({"druid.service":"druid/coordinator","druid.coordinator.kill.on":"false"})");
  });
  for (const char* service : {"coordinator", "indexer"}) {
    const std::string base = absl::StrCat("/druid/", service, "/v1/");
    router.Add("GET", base + "isLeader", kRead, IsLeader);
    router.Add("GET", base + "leader", kRead, Leader);
  }
}

}  // namespace interlock::simulator
