// Which datasources streams write: apache/druid,
// indexing-service/…/overlord/supervisor/SupervisorResource.java.
#include <utility>

#include "lib/druid/cluster_impl.h"

namespace interlock::druid {

Answer<std::vector<std::string>> Cluster::ListStreamedDatasources() {
  std::vector<std::string> names;
  Call call;
  call.endpoint = "supervisors";
  call.service = Service::kOverlord;
  call.path = "/druid/indexer/v1/supervisor?state=true";
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    names.clear();
    if (!reply.IsArray()) return std::string("supervisors that are no array");
    for (const auto& supervisor : reply.GetArray()) {
      // Up to 33 a supervisor's id is its datasource; later ones name it beside.
      std::string name = TextMember(supervisor, "dataSource");
      if (name.empty()) name = TextMember(supervisor, "id");
      if (name.empty()) return std::string("a supervisor without an id");
      names.push_back(std::move(name));
    }
    return std::string();
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(names));
}

}  // namespace interlock::druid
