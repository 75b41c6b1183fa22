#include "server/correction_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/sql_work.h"
#include "lib/time/status_reason.h"
#include "server/retarget.h"

namespace interlock::server {
namespace {

absl::Status TargetNotFound(const std::string& datasource) {
  return WithReason(absl::InvalidArgumentError(
                        absl::StrCat("the query could not be turned to write beside ", datasource,
                                     ": begin it with REPLACE INTO \"", datasource, "\"")),
                    "TARGET_NOT_FOUND", {{"datasource", datasource}});
}

}  // namespace

// Where the job says, or else the seals.
absl::StatusOr<std::string> CorrectionCall::TargetOf(const backfill::Plan& plan) const {
  auto target = corrections_.TargetOf(plan.datasource, plan.intervals);
  if (!target.ok() || plan.job.empty()) return target;
  auto job = jobs_.GetJob({plan.job, plan.job_version});
  if (!job.ok()) return job.status();
  return job->job.corrections_datasource.empty() ? *target : job->job.corrections_datasource;
}

absl::StatusOr<CorrectionCall::Redirected> CorrectionCall::Redirect(
    const backfill::BackfillRequest& request) const {
  // The plan reads the spec, the job and the intervals as the submit would.
  auto plan = backfills_.MakePlan(request);
  if (!plan.ok()) return plan.status();
  auto target = TargetOf(*plan);
  if (!target.ok()) return target.status();
  Redirected redirected{request, plan->datasource, *target};
  redirected.request.spec = Retarget(plan->spec_json, *target);
  redirected.request.sql = backfill::IsSql(redirected.request.spec);
  redirected.request.sources = plan->sources;
  redirected.request.job.clear();
  redirected.request.labels[kCorrectsLabel] = plan->datasource;
  if (!plan->job.empty()) {
    redirected.request.labels[kJobLabel] = absl::StrCat(plan->job, "@", plan->job_version);
  }
  if (redirected.request.spec.empty()) return TargetNotFound(plan->datasource);
  if (!redirected.request.sql) return redirected;
  // What a query replaces is asked of Druid, here as ever.
  auto moved = backfills_.MakePlan(redirected.request);
  if (!moved.ok()) return moved.status();
  if (moved->datasource != *target) return TargetNotFound(plan->datasource);
  return redirected;
}

absl::Status CorrectionCall::FollowAgain(const backfill::Backfill& backfill) {
  const auto corrects = backfill.labels.find(kCorrectsLabel);
  if (corrects == backfill.labels.end()) return absl::OkStatus();
  seal::Correcting correcting;
  correcting.backfill_id = backfill.id;
  correcting.datasource = corrects->second;
  correcting.requested_by = backfill.requested_by;
  correcting.reason = backfill.request_reason;
  correcting.corrections_datasource = backfill.datasource;
  return upkeep_.Follow(correcting);
}

absl::StatusOr<backfill::Backfills::Submitted> CorrectionCall::Submit(const Redirected& redirected,
                                                                      const audit::Caller& caller) {
  auto submitted = backfills_.Submit(redirected.request, caller);
  if (!submitted.ok()) return submitted;
  if (absl::Status status = FollowAgain(submitted->backfill); !status.ok()) return status;
  return submitted;
}

}  // namespace interlock::server
