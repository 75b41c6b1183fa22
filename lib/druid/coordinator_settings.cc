// How the coordinator was started, and the part of its dynamic configuration that decides
// what its kill duty may take.
#include <utility>

#include "lib/druid/cluster_impl.h"

namespace interlock::druid {
namespace {

std::string ReadProperties(const rapidjson::Document& reply, CoordinatorSettings* settings) {
  settings->properties.clear();
  if (!reply.IsObject()) return "properties that are no object";
  for (const auto& member : reply.GetObject()) {
    if (!member.value.IsString()) return "a property that is no text";
    settings->properties[member.name.GetString()] = member.value.GetString();
  }
  return "";
}

std::string ReadWhitelist(const rapidjson::Document& reply, CoordinatorSettings* settings) {
  settings->kill_whitelist.clear();
  if (!reply.IsObject()) return "a coordinator configuration that is no object";
  const rapidjson::Value* list = Member(reply, "killDataSourceWhitelist");
  if (list == nullptr || list->IsNull()) return "";
  if (!list->IsArray()) return "a killDataSourceWhitelist that is no array";
  for (const rapidjson::Value& name : list->GetArray()) {
    if (!name.IsString()) return "a killDataSourceWhitelist with something that is no text";
    settings->kill_whitelist.emplace_back(name.GetString());
  }
  return "";
}

Call Asks(const char* endpoint, const char* path,
          std::function<std::string(const rapidjson::Document&)> read) {
  Call call;
  call.endpoint = endpoint;
  call.service = Service::kCoordinator;
  call.path = path;
  call.read = ReadsJson(std::move(read));
  return call;
}

}  // namespace

Answer<CoordinatorSettings> Cluster::GetCoordinatorSettings() {
  CoordinatorSettings settings;
  Answer<HttpReply> answer = impl_->caller.Send(
      Asks("properties", "/status/properties",
           [&](const rapidjson::Document& reply) { return ReadProperties(reply, &settings); }));
  if (answer.done()) {
    answer = impl_->caller.Send(
        Asks("coordinator_config", "/druid/coordinator/v1/config",
             [&](const rapidjson::Document& reply) { return ReadWhitelist(reply, &settings); }));
  }
  return WithValue(answer, std::move(settings));
}

}  // namespace interlock::druid
