// IngestionCoordinator.VerifySingleVersion: looks at Druid, judges, tells; what it saw opens
// and closes findings as a sweep's look does.
//
// A call that waits looks again, the rarer the longer it waits, and holds no thread meanwhile.
#pragma once

#include <memory>

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/backfill/backfills.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "server/executor.h"
#include "server/later.h"
#include "server/verify_question.h"

namespace interlock::server {

class VerifyCall {
 public:
  // All must outlive it.
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    const backfill::Backfills& backfills;
    Executor& executor;
  };
  VerifyCall(World world, VerifySettings settings);

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const v1::VerifySingleVersionRequest* request,
                                 v1::VerifySingleVersionResponse* response);

  // Ends the calls that wait: SERVER_DRAINING.
  void EndWaits() { later_.End(); }

 private:
  // One call, for as long as it is under way.
  struct Waiting;

  void Step(const std::shared_ptr<Waiting>& call);
  // Looks once, and fills the response.
  absl::Status LookOnce(Waiting& call);
  absl::Status CheckLease(const v1::VerifySingleVersionRequest& request, const Interval& interval);

  const World world_;
  const VerifySettings settings_;
  Later later_;
};

}  // namespace interlock::server
