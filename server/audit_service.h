// The Audit service: what the store tells of who did what, and whether anybody changed it.
#pragma once

#include "interlock/v1/audit.grpc.pb.h"
#include "lib/store/store.h"
#include "server/executor.h"

namespace interlock::server {

class AuditService final : public v1::Audit::CallbackService {
 public:
  // Both must outlive it.
  AuditService(store::Store& store, Executor& executor) : store_(store), executor_(executor) {}

  grpc::ServerUnaryReactor* ListAuditEvents(grpc::CallbackServerContext* context,
                                            const v1::ListAuditEventsRequest* request,
                                            v1::ListAuditEventsResponse* response) override;
  grpc::ServerUnaryReactor* VerifyAudit(grpc::CallbackServerContext* context,
                                        const v1::VerifyAuditRequest* request,
                                        v1::VerifyAuditResponse* response) override;

 private:
  absl::Status List(const v1::ListAuditEventsRequest& request,
                    v1::ListAuditEventsResponse& response);

  store::Store& store_;
  Executor& executor_;
};

}  // namespace interlock::server
