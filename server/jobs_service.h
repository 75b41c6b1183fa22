// The Jobs service: named, versioned spec templates.
#pragma once

#include "interlock/v1/jobs.grpc.pb.h"
#include "lib/backfill/jobs.h"
#include "server/executor.h"

namespace interlock::server {

class JobsService final : public v1::Jobs::CallbackService {
 public:
  // Both must outlive the service. `max_spec_bytes`: limits.max_spec_bytes.
  JobsService(backfill::Jobs& jobs, Executor& executor, size_t max_spec_bytes)
      : jobs_(jobs), executor_(executor), max_spec_bytes_(max_spec_bytes) {}

  grpc::ServerUnaryReactor* PutJob(grpc::CallbackServerContext* context,
                                   const v1::PutJobRequest* request,
                                   v1::PutJobResponse* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;

 private:
  absl::Status Put(const grpc::CallbackServerContext& context, const v1::PutJobRequest& request,
                   v1::PutJobResponse& response);

  backfill::Jobs& jobs_;
  Executor& executor_;
  const size_t max_spec_bytes_;
};

}  // namespace interlock::server
