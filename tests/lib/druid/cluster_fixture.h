// A cluster in front of canned answers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/cluster.h"
#include "tests/lib/druid/canned_transport.h"

namespace interlock::druid {

inline const Interval kHour = *Interval::Parse("2026-07-16T13:00:00Z/2026-07-16T14:00:00Z");

inline ClusterOptions Options(Access access = Access::kManage) {
  ClusterOptions options;
  options.coordinator = {"http://coordinator:8081"};
  options.overlord = {"http://overlord:8090"};
  options.broker = {"http://broker:8082"};
  options.access = access;
  options.jitter_seed = 7;
  return options;
}

struct Fixture {
  Fixture(const ClusterOptions& options, CannedTransport::Answerer answerer)
      : transport(std::make_shared<CannedTransport>(std::move(answerer))),
        cluster(options, transport) {}
  explicit Fixture(CannedTransport::Answerer answerer) : Fixture(Options(), std::move(answerer)) {}
  explicit Fixture(HttpReply reply) : Fixture([reply](const HttpRequest&) { return reply; }) {}

  std::shared_ptr<CannedTransport> transport;
  Cluster cluster;
};

inline constexpr char kTask[] = R"({"type":"noop","id":"il-1","context":{"nonce":{"n":1}}})";

inline std::string SegmentJson(const std::string& datasource, const std::string& version,
                               const std::string& id = "") {
  return absl::StrCat(R"({"dataSource":")", datasource,
                      R"(","interval":"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",)",
                      R"("version":")", version, R"(","size":1,"shardSpec":{"type":"numbered",)",
                      R"("partitionNum":0,"partitions":1})",
                      id.empty() ? "" : absl::StrCat(R"(,"identifier":")", id, "\""), "}");
}

}  // namespace interlock::druid
