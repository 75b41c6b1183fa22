#include "server/drop_options.h"

#include <string>
#include <utility>
#include <vector>

#include "server/conversions/time.h"

namespace interlock::server {

drop::Options DropOptions(const config::v1::ServerConfig& config) {
  const auto& drops = config.drops();
  drop::Options options;
  options.observe_only = config.druid().access() == config::v1::Druid::OBSERVE;
  options.min_window = FromProto(drops.min_window());
  options.default_window = FromProto(drops.default_window());
  options.max_window = FromProto(drops.max_window());
  options.floor = FromProto(drops.floor());
  for (const auto& own : drops.datasource_floors()) {
    options.datasource_floors.push_back({own.datasource_pattern(), FromProto(own.floor())});
  }
  options.require_approval = drops.require_approval();
  options.max_segments_per_kill = drops.max_segments_per_kill();
  options.settle_time = FromProto(drops.settle_time());
  options.kill_deadline = FromProto(drops.kill_deadline());
  return options;
}

std::shared_ptr<const drop::StorageProbe> DropProbe(const config::v1::Drops& config) {
  std::vector<std::string> folders;
  for (const auto& probe : config.storage_probes()) {
    if (!probe.local_path().empty()) folders.push_back(probe.local_path());
  }
  if (folders.empty()) return nullptr;
  return std::make_shared<drop::LocalProbe>(std::move(folders));
}

}  // namespace interlock::server
