// Whether a datasource is compacted: by the coordinator's duty or (33 and later) by a
// supervisor of the overlord's, which keeps its configurations apart.
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"
#include "lib/druid/url.h"

namespace interlock::druid {
namespace {

using Config = std::optional<CompactionConfig>;

CompactionConfig ConfigFrom(const rapidjson::Value& json) {
  CompactionConfig config;
  config.skip_offset_from_latest = TextMember(json, "skipOffsetFromLatest");
  return config;
}

std::string ReadList(const rapidjson::Document& reply, const std::string& datasource,
                     Config* config, bool* supervisors) {
  config->reset();
  if (!reply.IsObject()) return "a compaction configuration that is no object";
  *supervisors = BoolMember(reply, "useSupervisors").value_or(false);
  const rapidjson::Value* list = Member(reply, "compactionConfigs");
  if (list == nullptr || !list->IsArray()) return "no list of compactionConfigs";
  for (const auto& one : list->GetArray()) {
    if (one.IsObject() && TextMember(one, "dataSource") == datasource) *config = ConfigFrom(one);
  }
  return "";
}

}  // namespace

Answer<std::optional<CompactionConfig>> Cluster::GetCompactionConfig(
    const std::string& datasource) {
  Config config;
  bool supervisors = false;
  Call call;
  call.endpoint = "compaction_config";
  call.service = Service::kCoordinator;
  call.path = "/druid/coordinator/v1/config/compaction";
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    return ReadList(reply, datasource, &config, &supervisors);
  });
  Answer<HttpReply> answer = impl_->caller.Send(call);
  if (!answer.done() || config || !supervisors) return WithValue(answer, std::move(config));

  Call own;
  own.endpoint = "compaction_config";
  own.service = Service::kOverlord;
  own.path =
      absl::StrCat("/druid/indexer/v1/compaction/config/datasources/", EscapeUrl(datasource));
  own.read = ReadsJson([&](const rapidjson::Document& reply) {
    config.reset();
    if (reply.IsObject()) config = ConfigFrom(reply);
    return std::string();
  });
  answer = impl_->caller.Send(own);
  if (answer.not_found() || answer.cause() == Cause::kUnsupported) {
    return Answer<Config>::Done(std::nullopt);
  }
  return WithValue(answer, std::move(config));
}

}  // namespace interlock::druid
