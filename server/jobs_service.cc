#include "server/jobs_service.h"

#include "absl/strings/str_cat.h"
#include "server/caller.h"
#include "server/conversions/backfill.h"
#include "server/conversions/job.h"
#include "server/conversions/time.h"
#include "server/page_token.h"
#include "server/unary.h"

namespace interlock::server {

absl::Status JobsService::Put(const grpc::CallbackServerContext& context,
                              const v1::PutJobRequest& request, v1::PutJobResponse& response) {
  const size_t size = request.job().spec().size() + request.job().sql().query().size();
  if (size > max_spec_bytes_) {
    return InvalidField("/job/spec", absl::StrCat("has ", size, " bytes"),
                        absl::StrCat("limits.max_spec_bytes is ", max_spec_bytes_));
  }
  auto job = FromProto(request.job());
  if (!job.ok()) return job.status();
  backfill::Jobs::PutRequest put;
  put.job = *std::move(job);
  put.validate_only = request.validate_only();
  if (request.has_expect_version()) put.expect_version = request.expect_version();
  auto stored = jobs_.PutJob(put, CallerOf(context, request.request_id(), request.reason()));
  if (!stored.ok()) return stored.status();
  ToProto(stored->job, true, response.mutable_job());
  response.set_unchanged(stored->unchanged);
  for (const auto& warning : stored->warnings) ToProto(warning, response.add_notices());
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* JobsService::PutJob(grpc::CallbackServerContext* context,
                                              const v1::PutJobRequest* request,
                                              v1::PutJobResponse* response) {
  return Unary(context, request, executor_,
               [this, context, request, response] { return Put(*context, *request, *response); });
}

grpc::ServerUnaryReactor* JobsService::GetJob(grpc::CallbackServerContext* context,
                                              const v1::GetJobRequest* request,
                                              v1::GetJobResponse* response) {
  return Unary(context, request, executor_, [this, request, response]() -> absl::Status {
    auto name = backfill::ParseJobName(request->name());
    if (!name.ok()) return name.status();
    if (request->version() > 0) name->version = request->version();
    auto found = jobs_.GetJob(*name);
    if (!found.ok()) return found.status();
    ToProto(found->job, true, response->mutable_job());
    response->set_newest_version(found->newest);
    for (const std::string& job : found->dependents) response->add_dependent_jobs(job);
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* JobsService::ListJobs(grpc::CallbackServerContext* context,
                                                const v1::ListJobsRequest* request,
                                                v1::ListJobsResponse* response) {
  return Unary(context, request, executor_, [this, request, response]() -> absl::Status {
    const auto place = PagePlace(*request);
    if (!place.ok()) return place.status();
    auto page = jobs_.ListJobs(request->datasource(), request->all_versions(), request->page_size(),
                               *place);
    if (!page.ok()) return page.status();
    for (const auto& job : page->jobs) ToProto(job, false, response->add_jobs());
    response->set_next_page_token(PageToken(*request, page->next));
    return absl::OkStatus();
  });
}

}  // namespace interlock::server
