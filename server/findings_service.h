// The Findings service: what is wrong, and what is known of an interval. Reads only.
#pragma once

#include "interlock/v1/findings.grpc.pb.h"
#include "lib/store/store.h"
#include "server/executor.h"
#include "server/explain_call.h"

namespace interlock::server {

class FindingsService final : public v1::Findings::CallbackService {
 public:
  // All must outlive the service.
  FindingsService(store::Store& store, ExplainCall& explain, Executor& executor)
      : store_(store), explain_(explain), executor_(executor) {}

  grpc::ServerUnaryReactor* ListFindings(grpc::CallbackServerContext* context,
                                         const v1::ListFindingsRequest* request,
                                         v1::ListFindingsResponse* response) override;
  grpc::ServerUnaryReactor* ExplainInterval(grpc::CallbackServerContext* context,
                                            const v1::ExplainIntervalRequest* request,
                                            v1::ExplainIntervalResponse* response) override {
    return explain_.Call(context, request, response);
  }

 private:
  store::Store& store_;
  ExplainCall& explain_;
  Executor& executor_;
};

}  // namespace interlock::server
