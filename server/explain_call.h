// Findings.ExplainInterval: all that is known of an interval, on one page. What Druid does
// not tell is named in the notices; the rest is there all the same.
#pragma once

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "interlock/v1/findings.pb.h"
#include "lib/backfill/backfills.h"
#include "lib/drop/drops.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "server/executor.h"
#include "server/verify_call.h"

namespace interlock::server {

class ExplainCall {
 public:
  // All references must outlive it.
  ExplainCall(store::Store& store, druid::Cluster& cluster, const backfill::Backfills& backfills,
              const drop::Drops& drops, Executor& executor, VerifySettings settings)
      : store_(store),
        cluster_(cluster),
        backfills_(backfills),
        drops_(drops),
        executor_(executor),
        settings_(settings) {}

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
  absl::Status TellHistory(const std::string& datasource, const Interval& interval,
                           v1::ExplainIntervalResponse& response);

  store::Store& store_;
  druid::Cluster& cluster_;
  const backfill::Backfills& backfills_;
  const drop::Drops& drops_;
  Executor& executor_;
  const VerifySettings settings_;
};

}  // namespace interlock::server
