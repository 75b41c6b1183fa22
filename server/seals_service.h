// The Seals service: intervals that have been given out, and what would have changed them.
#pragma once

#include <functional>
#include <string>

#include "interlock/v1/seals.grpc.pb.h"
#include "lib/drop/drops.h"
#include "lib/druid/cluster.h"
#include "lib/seal/corrections.h"
#include "lib/seal/policies.h"
#include "lib/seal/seals.h"
#include "lib/store/store.h"
#include "server/executor.h"

namespace interlock::server {

class SealsService final : public v1::Seals::CallbackService {
 public:
  struct World {
    store::Store& store;
    druid::Cluster& cluster;
    seal::Seals& seals;
    seal::Corrections& corrections;
    Executor& executor;
    // A seal is to be looked at from then on; policies may seal something now.
    std::function<absl::Status(const std::string& seal_id, Instant due)> look;
    std::function<absl::Status()> apply_policies;
    const drop::Drops& drops;
  };
  // All must outlive it.
  explicit SealsService(World world) : world_(std::move(world)) {}

  grpc::ServerUnaryReactor* SealInterval(grpc::CallbackServerContext* context,
                                         const v1::SealIntervalRequest* request,
                                         v1::SealIntervalResponse* response) override;
  grpc::ServerUnaryReactor* GetSeal(grpc::CallbackServerContext* context,
                                    const v1::GetSealRequest* request,
                                    v1::GetSealResponse* response) override;
  grpc::ServerUnaryReactor* ListSeals(grpc::CallbackServerContext* context,
                                      const v1::ListSealsRequest* request,
                                      v1::ListSealsResponse* response) override;
  grpc::ServerUnaryReactor* UnsealInterval(grpc::CallbackServerContext* context,
                                           const v1::UnsealIntervalRequest* request,
                                           v1::UnsealIntervalResponse* response) override;
  grpc::ServerUnaryReactor* ListCorrections(grpc::CallbackServerContext* context,
                                            const v1::ListCorrectionsRequest* request,
                                            v1::ListCorrectionsResponse* response) override;
  grpc::ServerUnaryReactor* PutSealPolicy(grpc::CallbackServerContext* context,
                                          const v1::PutSealPolicyRequest* request,
                                          v1::PutSealPolicyResponse* response) override;
  grpc::ServerUnaryReactor* ListSealPolicies(grpc::CallbackServerContext* context,
                                             const v1::ListSealPoliciesRequest* request,
                                             v1::ListSealPoliciesResponse* response) override;
  grpc::ServerUnaryReactor* DeleteSealPolicy(grpc::CallbackServerContext* context,
                                             const v1::DeleteSealPolicyRequest* request,
                                             v1::DeleteSealPolicyResponse* response) override;

 private:
  absl::Status Seal(const grpc::CallbackServerContext& context,
                    const v1::SealIntervalRequest& request, v1::SealIntervalResponse& response);
  // A notice for each drop that has marked something there.
  absl::Status TellDrops(const seal::Seal& seal, v1::SealIntervalResponse& response) const;
  absl::Status List(const v1::ListSealsRequest& request, v1::ListSealsResponse& response);
  absl::Status Corrections(const v1::ListCorrectionsRequest& request,
                           v1::ListCorrectionsResponse& response);
  absl::Status PutPolicy(const grpc::CallbackServerContext& context,
                         const v1::PutSealPolicyRequest& request,
                         v1::PutSealPolicyResponse& response);

  const World world_;
};

}  // namespace interlock::server
