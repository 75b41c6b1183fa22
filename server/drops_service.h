// The Drops service: drops after they were asked for.
#pragma once

#include "interlock/v1/drops.grpc.pb.h"
#include "lib/drop/drops.h"
#include "lib/drop/retention_policies.h"
#include "server/executor.h"

namespace interlock::server {

class DropsService final : public v1::Drops::CallbackService {
 public:
  // All must outlive the service.
  DropsService(drop::Drops& drops, drop::RetentionPolicies& retention, Executor& executor)
      : drops_(drops), retention_(retention), executor_(executor) {}

  grpc::ServerUnaryReactor* GetDrop(grpc::CallbackServerContext* context,
                                    const v1::GetDropRequest* request,
                                    v1::GetDropResponse* response) override;
  grpc::ServerUnaryReactor* ListDrops(grpc::CallbackServerContext* context,
                                      const v1::ListDropsRequest* request,
                                      v1::ListDropsResponse* response) override;
  grpc::ServerWriteReactor<v1::GetManifestResponse>* GetManifest(
      grpc::CallbackServerContext* context, const v1::GetManifestRequest* request) override;
  grpc::ServerUnaryReactor* ApproveKill(grpc::CallbackServerContext* context,
                                        const v1::ApproveKillRequest* request,
                                        v1::ApproveKillResponse* response) override;
  grpc::ServerUnaryReactor* ExtendWindow(grpc::CallbackServerContext* context,
                                         const v1::ExtendWindowRequest* request,
                                         v1::ExtendWindowResponse* response) override;
  grpc::ServerUnaryReactor* RestoreDrop(grpc::CallbackServerContext* context,
                                        const v1::RestoreDropRequest* request,
                                        v1::RestoreDropResponse* response) override;
  grpc::ServerUnaryReactor* CancelDrop(grpc::CallbackServerContext* context,
                                       const v1::CancelDropRequest* request,
                                       v1::CancelDropResponse* response) override;
  grpc::ServerUnaryReactor* PutRetentionPolicy(grpc::CallbackServerContext* context,
                                               const v1::PutRetentionPolicyRequest* request,
                                               v1::PutRetentionPolicyResponse* response) override;
  grpc::ServerUnaryReactor* ListRetentionPolicies(
      grpc::CallbackServerContext* context, const v1::ListRetentionPoliciesRequest* request,
      v1::ListRetentionPoliciesResponse* response) override;
  grpc::ServerUnaryReactor* DeleteRetentionPolicy(
      grpc::CallbackServerContext* context, const v1::DeleteRetentionPolicyRequest* request,
      v1::DeleteRetentionPolicyResponse* response) override;

 private:
  // The shape of a call that changes one drop and answers with it.
  template <class Response>
  grpc::ServerUnaryReactor* Change(grpc::CallbackServerContext* context,
                                   const google::protobuf::Message* request, Response* response,
                                   std::function<absl::StatusOr<drop::Drop>()> change);

  drop::Drops& drops_;
  drop::RetentionPolicies& retention_;
  Executor& executor_;
};

}  // namespace interlock::server
