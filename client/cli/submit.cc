// `submit`: a backfill, its plan, and the waiting for it.
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/field_text.h"
#include "client/cli/follow_backfill.h"
#include "client/cli/lease_flags.h"
#include "client/cli/patience.h"
#include "client/cli/progress.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "client/cli/views.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

absl::Status CheckWork(const Arguments& arguments) {
  const int given = arguments.Given("spec") + arguments.Given("sql") + arguments.Given("job");
  if (given != 1) return UsageError("'submit' wants one of --spec FILE, --sql FILE, --job NAME");
  if (arguments.Given("context") && !arguments.Given("sql")) {
    return UsageError("--context goes with --sql");
  }
  return absl::OkStatus();
}

// 0 is the server's own number on the wire, so it can't be meant here.
absl::Status CheckCounts(const Arguments& arguments) {
  for (const char* flag : {"max-parallel", "max-attempts"}) {
    int64_t count = 0;
    if (!arguments.Given(flag)) continue;
    if (!absl::SimpleAtoi(arguments.Get(flag), &count) || count < 1) {
      return UsageError(absl::StrCat("--", flag, " is ", arguments.Get(flag),
                                     ", and wants 1 or more; left out it is the server's own"));
    }
  }
  return absl::OkStatus();
}

absl::Status SetTailPolicy(const Arguments& arguments, v1::SubmitBackfillRequest& request) {
  int given = 0;
  for (const auto& [flag, policy] :
       {std::pair{"wait-tail", v1::Backfill::WAIT_TAIL},
        std::pair{"handover", v1::Backfill::HANDOVER},
        std::pair{"accept-unbounded-tail", v1::Backfill::ACCEPT_UNBOUNDED}}) {
    if (!arguments.Given(flag)) continue;
    ++given;
    request.set_tail_policy(policy);
  }
  if (given > 1) {
    return UsageError("of --wait-tail, --handover and --accept-unbounded-tail only one can be");
  }
  for (const char* flag : {"max-pause", "ends-at-committed-offsets"}) {
    if (!arguments.Given(flag) || request.tail_policy() == v1::Backfill::HANDOVER) continue;
    return UsageError(absl::StrCat("--", flag, " goes with --handover"));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::SubmitBackfillRequest> Request(Session& session) {
  v1::SubmitBackfillRequest request;
  for (const absl::Status& status :
       {CheckWork(session.arguments), CheckCounts(session.arguments), CheckLease(session.arguments),
        SetTailPolicy(session.arguments, request), session.Fill(request)}) {
    if (!status.ok()) return status;
  }
  if (session.output == Output::kSpec && !request.validate_only()) {
    return UsageError("-o spec goes with --dry-run: it prints the spec as it would be sent");
  }
  return request;
}

// What a plan says before its tables.
std::string Headline(const v1::BackfillPlan& plan) {
  return absl::StrCat(
      plan.datasource(), ": ", plan.units_size(), " task(s) over ", plan.partitions_size(),
      " partition(s)", plan.granularity().period().empty() ? "" : " of ",
      FieldText(plan, "granularity"),
      plan.job().empty() ? "" : absl::StrCat(", job ", plan.job(), "@", plan.job_version()),
      "; plan revision ", plan.plan_revision(), "\n");
}

std::vector<Section> PlanView() {
  return {
      {"plan.units",
       {{"TASK FOR", "unit"},
        {"PARTITIONS", "partition_count"},
        {"READS", "reads"},
        {"TASK ID", "task_id"},
        {"NOT ONE PER PARTITION", "coarse_reason"},
        {"WHAT WOULD DO", "remedy"}}},
      {"plan.partitions",
       {{"PARTITION", "partition"},
        {"ACTION", "action"},
        {"REPLACES", "replaces"},
        {"ROWS THERE", "replaces.row_count"},
        {"IN THE WAY", "blockers"}}},
      BlockerRows("plan.blockers"),
      {"plan.spec_changes",
       {{"IN THE SPEC", "pointer"}, {"WAS", "before"}, {"IS", "after"}, {"WHY", "reason"}}},
      {"plan.notices", {{"NOTE", "reason"}, {"MESSAGE", "message"}, {"WHAT WOULD DO", "remedy"}}},
  };
}

int PrintPlan(Session& session, const v1::SubmitBackfillResponse& reply) {
  if (session.output == Output::kSpec) {
    session.PrintLine(reply.plan().corrected_spec());
  } else if (session.output == Output::kTable) {
    session.PrintLine(Headline(reply.plan()));
    session.Print(reply, PlanView());
  } else {
    session.Print(reply, {});
  }
  return ExitCodeOf(reply.plan());
}

// The spec that was refused, mended as far as each of its faults has one answer.
void PrintCorrection(Session& session, v1::SubmitBackfillRequest request,
                     const absl::Status& refusal) {
  const std::string reason = ReasonOf(refusal);
  if (reason != "SPEC_INVALID" && reason != "PATH_OUTSIDE_UNIT") return;
  request.set_offer_correction(true);
  v1::SubmitBackfillResponse reply;
  if (!CallOnce(session, request, reply).ok()) return;
  if (!reply.plan().corrected_spec().empty()) session.PrintLine(reply.plan().corrected_spec());
}

}  // namespace

absl::StatusOr<int> RunSubmit(Session& session) {
  auto request = Request(session);
  if (!request.ok()) return request.status();
  v1::SubmitBackfillResponse reply;
  if (absl::Status status = CallOnce(session, *request, reply); !status.ok()) {
    if (session.output == Output::kSpec) PrintCorrection(session, *request, status);
    return status;
  }
  for (const auto& notice : reply.notices()) session.Tell(notice.message());
  if (request->validate_only()) return PrintPlan(session, reply);
  if (!session.arguments.Given("wait")) {
    session.Print(reply, session.verb.view);
    return kDone;
  }
  const std::string id = reply.backfill().backfill_id();
  session.Tell(absl::StrCat("backfill ", id, reply.attached() ? ", which was there already" : ""));
  ProgressDisplay display(session);
  const auto ended =
      FollowBackfill(session, id, 0, false, [&](const v1::WatchBackfillResponse& change) {
        display.Show(change, ProgressDisplay::Lines::kOnStderr);
      });
  display.End();
  if (!ended.ok()) {
    return Naming(ended.status(), absl::StrCat("interlockctl backfills get ", id));
  }
  return PrintOutcome(session, *ended);
}

}  // namespace interlock::cli
