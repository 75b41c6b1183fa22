#include "server/drop_options.h"

#include <string>
#include <utility>
#include <vector>

#include "lib/drop/s3_probe.h"
#include "lib/druid/curl_transport.h"
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
  options.kill_run_deadline = FromProto(drops.kill_run_deadline());
  options.max_clock_skew = FromProto(drops.max_clock_skew());
  options.recheck_every = FromProto(drops.recheck_every());
  options.restore_proof_deadline = FromProto(drops.restore_proof_deadline());
  options.kill_spacing = FromProto(drops.kill_spacing());
  return options;
}

std::shared_ptr<const drop::StorageProbe> DropProbe(const config::v1::Drops& config,
                                                    const Clock& clock) {
  std::vector<std::string> folders;
  std::vector<std::shared_ptr<const drop::StorageProbe>> probes;
  for (const auto& probe : config.storage_probes()) {
    if (!probe.local_path().empty()) folders.push_back(probe.local_path());
    if (!probe.has_s3()) continue;
    drop::S3Options s3;
    s3.bucket = probe.s3().bucket();
    s3.endpoint = probe.s3().endpoint();
    if (!probe.s3().region().empty()) s3.region = probe.s3().region();
    s3.credentials_file = probe.s3().credentials_file();
    probes.push_back(std::make_shared<drop::S3Probe>(
        std::move(s3), std::make_shared<druid::CurlTransport>(druid::CurlTransportOptions()),
        clock));
  }
  if (!folders.empty()) probes.push_back(std::make_shared<drop::LocalProbe>(std::move(folders)));
  if (probes.empty()) return nullptr;
  return std::make_shared<drop::ManyProbes>(std::move(probes));
}

}  // namespace interlock::server
