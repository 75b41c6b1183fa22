// Retention rules and the coordinator's dynamic configuration.
#include "lib/simulator/json.h"
#include "lib/simulator/router.h"

namespace interlock::simulator {
namespace {

constexpr auto kRead = Router::Effect::kRead;
constexpr auto kWrite = Router::Effect::kWrite;

constexpr char kConfig28[] =
    R"({"millisToWaitBeforeDeleting":900000,"mergeBytesLimit":524288000,"mergeSegmentsLimit":100,)"
    R"("maxSegmentsToMove":100,"replicantLifetime":15,"replicationThrottleLimit":500,)"
    R"("balancerComputeThreads":1,"killDataSourceWhitelist":[],"killTaskSlotRatio":1.0,)"
    R"("maxKillTaskSlots":2147483647,"killPendingSegmentsSkipList":[],)"
    R"("maxSegmentsInNodeLoadingQueue":500,"decommissioningNodes":[],"pauseCoordination":false,)"
    R"("replicateAfterLoadTimeout":false,"useRoundRobinSegmentAssignment":true,)"
    R"("smartSegmentLoading":true,"debugDimensions":null})";
constexpr char kConfig33[] =
    R"({"millisToWaitBeforeDeleting":900000,"maxSegmentsToMove":100,"replicantLifetime":15,)"
    R"("replicationThrottleLimit":500,"balancerComputeThreads":1,"killDataSourceWhitelist":[],)"
    R"("killTaskSlotRatio":0.1,"maxKillTaskSlots":2147483647,"killPendingSegmentsSkipList":[],)"
    R"("maxSegmentsInNodeLoadingQueue":500,"decommissioningNodes":[],"pauseCoordination":false,)"
    R"("replicateAfterLoadTimeout":false,"useRoundRobinSegmentAssignment":true,)"
    R"("smartSegmentLoading":true,"debugDimensions":null,"turboLoadingNodes":[]})";
constexpr char kCompaction28[] =
    R"({"compactionConfigs":[],"compactionTaskSlotRatio":0.1,)"
    R"("maxCompactionTaskSlots":2147483647,"useAutoScaleSlots":false})";
constexpr char kCompaction33[] =
    R"({"compactionConfigs":[],"compactionTaskSlotRatio":0.1,)"
    R"("maxCompactionTaskSlots":2147483647,)"
    R"("compactionPolicy":{"type":"newestSegmentFirst","priorityDatasource":null},)"
    R"("useSupervisors":false,"engine":"native"})";

bool Newer(const Call& call) { return call.world.traits.overlord_marks; }

Reply GetRules(Call& call) {
  return Reply::Json(call.world.rules.ToJson(call.Param("ds"), call.request.Has("full")));
}

Reply SetRules(Call& call) {
  absl::Status set = call.world.rules.Set(call.Param("ds"), call.request.body);
  if (!set.ok()) return Reply::BadRequest(set.message());
  for (const std::string& name : call.world.segments.Datasources()) {
    call.world.SegmentsChanged(name);
  }
  return Reply::Empty(200);
}

}  // namespace

void AddConfigRoutes(Router& router) {
  const std::string base = "/druid/coordinator/v1/";
  router.Add("GET", base + "rules", kRead,
             [](Call& call) { return Reply::Json(call.world.rules.AllToJson()); });
  router.Add("GET", base + "rules/{ds}", kRead, GetRules);
  router.Add("POST", base + "rules/{ds}", kWrite, SetRules);
  router.Add("GET", base + "config", kRead,
             [](Call& call) { return Reply::Json(Newer(call) ? kConfig33 : kConfig28); });
  router.Add("GET", base + "config/compaction", kRead,
             [](Call& call) { return Reply::Json(Newer(call) ? kCompaction33 : kCompaction28); });
}

}  // namespace interlock::simulator
