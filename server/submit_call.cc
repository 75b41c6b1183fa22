#include "server/submit_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/caller.h"
#include "server/conversions/backfill.h"
#include "server/conversions/time.h"
#include "server/unary.h"

namespace interlock::server {

grpc::ServerUnaryReactor* SubmitCall::Call(grpc::CallbackServerContext* context,
                                           const v1::SubmitBackfillRequest* request,
                                           v1::SubmitBackfillResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response] {
    return Submit(*context, *request, *response);
  });
}

absl::Status SubmitCall::Submit(const grpc::CallbackServerContext& context,
                                const v1::SubmitBackfillRequest& request,
                                v1::SubmitBackfillResponse& response) {
  if (request.spec().size() > max_spec_bytes_) {
    return InvalidField("/spec", absl::StrCat("has ", request.spec().size(), " bytes"),
                        absl::StrCat("limits.max_spec_bytes is ", max_spec_bytes_));
  }
  auto backfill = FromProto(request);
  if (!backfill.ok()) return backfill.status();
  auto read = FromProto(request.intervals(), "intervals", true);
  if (!read.ok()) return read.status();
  backfill->intervals = std::move(read->intervals);
  for (auto& reading : read->readings) *response.add_readings() = std::move(reading);
  if (request.correction()) return Correct(context, request, *backfill, response);
  if (request.offer_correction()) return Offer(request, *backfill, response);
  if (request.validate_only()) {
    auto plan = backfills_.MakePlan(*backfill);
    if (!plan.ok()) return plan.status();
    ToProto(*plan, response.mutable_plan());
    return absl::OkStatus();
  }
  return Answer(
      backfills_.Submit(*backfill, CallerOf(context, request.request_id(), request.reason())),
      response);
}

absl::Status SubmitCall::Offer(const v1::SubmitBackfillRequest& request,
                               const backfill::BackfillRequest& asked,
                               v1::SubmitBackfillResponse& response) {
  if (!request.validate_only()) {
    return InvalidField("/offer_correction", "is set", "it goes with validate_only");
  }
  if (request.has_sql()) {
    return InvalidField("/offer_correction", "is set for a query", "specs alone are mended");
  }
  auto correction = backfills_.CorrectionOf(asked);
  if (!correction.ok()) return correction.status();
  ToProto(*correction, response.mutable_plan());
  return absl::OkStatus();
}

absl::Status SubmitCall::Correct(const grpc::CallbackServerContext& context,
                                 const v1::SubmitBackfillRequest& request,
                                 const backfill::BackfillRequest& asked,
                                 v1::SubmitBackfillResponse& response) {
  auto redirected = corrections_.Redirect(asked);
  if (!redirected.ok()) return redirected.status();
  if (!request.validate_only()) {
    absl::Status status = Answer(
        corrections_.Submit(*redirected, CallerOf(context, request.request_id(), request.reason())),
        response);
    response.mutable_backfill()->set_correction(true);
    response.mutable_backfill()->set_corrections_datasource(redirected->corrections_datasource);
    return status;
  }
  auto plan = backfills_.MakePlan(redirected->request);
  if (!plan.ok()) return plan.status();
  ToProto(*plan, response.mutable_plan());
  response.mutable_plan()->set_corrections_datasource(redirected->corrections_datasource);
  for (auto& partition : *response.mutable_plan()->mutable_partitions()) {
    if (partition.action() == v1::PlannedPartition::RUN) {
      partition.set_action(v1::PlannedPartition::CORRECT);
    }
  }
  return absl::OkStatus();
}

absl::Status SubmitCall::Answer(const absl::StatusOr<backfill::Backfills::Submitted>& submitted,
                                v1::SubmitBackfillResponse& response) {
  if (!submitted.ok()) return submitted.status();
  auto detail = backfills_.Get(submitted->backfill.id);
  if (!detail.ok()) return detail.status();
  ToProto(*detail, false, response.mutable_backfill());
  response.set_attached(submitted->attached);
  for (const auto& notice : submitted->notices) ToProto(notice, response.add_notices());
  return absl::OkStatus();
}

}  // namespace interlock::server
