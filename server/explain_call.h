// Findings.ExplainInterval: all that is known of an interval, on one page. What Druid does
// not tell is named in the notices; the rest is there all the same.
#pragma once

#include <string>
#include <utility>

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "interlock/v1/findings.pb.h"
#include "lib/backfill/backfills.h"
#include "lib/drop/drops.h"
#include "lib/druid/cluster.h"
#include "lib/guard/streams.h"
#include "lib/lease/reservation.h"
#include "lib/seal/seals.h"
#include "lib/store/store.h"
#include "server/executor.h"
#include "server/verify_question.h"

namespace interlock::server {

class ExplainCall {
 public:
  // All must outlive it.
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    const backfill::Backfills& backfills;
    const drop::Drops& drops;
    const seal::Seals& seals;
    const guard::Streams& streams;
    Executor& executor;
  };
  // `limits` as for reservations: what stands in their way is told.
  ExplainCall(World world, VerifySettings settings, lease::Limits limits)
      : world_(world), settings_(settings), limits_(std::move(limits)) {}

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const v1::ExplainIntervalRequest* request,
                                 v1::ExplainIntervalResponse* response);

 private:
  absl::Status Explain(const v1::ExplainIntervalRequest& request,
                       v1::ExplainIntervalResponse& response);
  // What queries see, partition by partition, and what lies below it.
  absl::Status TellSegments(const v1::ExplainIntervalRequest& request, const Interval& interval,
                            v1::ExplainIntervalResponse& response);
  void TellUnused(const v1::ExplainIntervalRequest& request, const Interval& interval,
                  v1::ExplainIntervalResponse& response);
  // Reservations and open findings.
  absl::Status TellStore(const std::string& datasource, const Interval& interval,
                         v1::ExplainIntervalResponse& response);
  void TellDruid(const std::string& datasource, const Interval& interval,
                 v1::ExplainIntervalResponse& response);
  // Seals that overlap; streams of the datasource, with their tails and how they do.
  absl::Status TellSealsAndStreams(const std::string& datasource, const Interval& interval,
                                   v1::ExplainIntervalResponse& response);
  absl::Status TellHistory(const std::string& datasource, const Interval& interval,
                           v1::ExplainIntervalResponse& response);

  const World world_;
  const VerifySettings settings_;
  const lease::Limits limits_;
};

}  // namespace interlock::server
