#include "server/correction_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/json.h"
#include "lib/time/status_reason.h"
#include "rapidjson/pointer.h"

namespace interlock::server {
namespace {

// The spec with another target; "" where it is none, which a plan's never is.
std::string WithTarget(const std::string& spec, const std::string& datasource) {
  rapidjson::Document document;
  std::string why;
  if (!druid::ParseJson(spec, &document, &why)) return "";
  rapidjson::Pointer("/spec/dataSchema/dataSource")
      .Set(document, rapidjson::Value(datasource, document.GetAllocator()));
  return druid::WriteJson(document);
}

}  // namespace

absl::StatusOr<CorrectionCall::Redirected> CorrectionCall::Redirect(
    const backfill::BackfillRequest& request) const {
  // The plan reads the spec, the job and the intervals as the submit would.
  auto plan = backfills_.MakePlan(request);
  if (!plan.ok()) return plan.status();
  auto target = corrections_.TargetOf(plan->datasource, plan->intervals);
  if (!target.ok()) return target.status();
  Redirected redirected{request, plan->datasource, *target};
  redirected.request.spec = WithTarget(plan->spec_json, *target);
  redirected.request.job.clear();
  redirected.request.labels[kCorrectsLabel] = plan->datasource;
  if (!plan->job.empty()) {
    redirected.request.labels[kJobLabel] = absl::StrCat(plan->job, "@", plan->job_version);
  }
  return redirected;
}

absl::StatusOr<backfill::Backfills::Submitted> CorrectionCall::Submit(const Redirected& redirected,
                                                                      const audit::Caller& caller) {
  auto submitted = backfills_.Submit(redirected.request, caller);
  if (!submitted.ok()) return submitted;
  seal::Correcting correcting;
  correcting.backfill_id = submitted->backfill.id;
  correcting.datasource = redirected.datasource;
  correcting.requested_by = caller.identity;
  correcting.reason = caller.reason;
  correcting.corrections_datasource = redirected.corrections_datasource;
  if (absl::Status status = upkeep_.Follow(correcting); !status.ok()) return status;
  return submitted;
}

}  // namespace interlock::server
