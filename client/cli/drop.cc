// `drop` and `drops restore`: ask, and wait for what comes of it.
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/lease_flags.h"
#include "client/cli/patience.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "client/cli/views.h"
#include "interlock/v1/drops.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"

namespace interlock::cli {
namespace {

bool KillIsSettled(v1::Drop::State state) {
  return state == v1::Drop::AWAITING_APPROVAL || ExitCodeOf(state) != kNotKnown;
}

bool RestoreIsSettled(v1::Drop::State state) { return state != v1::Drop::RESTORING; }

absl::StatusOr<v1::GetDropResponse> AwaitDrop(Session& session, const std::string& drop_id,
                                              bool (*settled)(v1::Drop::State)) {
  Patience patience(session);
  v1::GetDropRequest request;
  request.set_drop_id(drop_id);
  v1::Drop::State last = v1::Drop::STATE_UNSPECIFIED;
  while (true) {
    v1::GetDropResponse reply;
    const absl::Status status = session.Call("Drops.GetDrop", request, reply);
    if (!status.ok()) {
      if (const absl::Status ended = patience.Again(status); !ended.ok()) {
        return Naming(ended, absl::StrCat("interlockctl drops get ", drop_id));
      }
      continue;
    }
    const v1::Drop& drop = reply.drop();
    if (drop.state() != last) {
      last = drop.state();
      session.Tell(absl::StrCat(drop.drop_id(), "  ", v1::Drop::State_Name(last),
                                drop.message().empty() ? "" : "  ", drop.message()));
    }
    if (settled(last)) return reply;
    if (const absl::Status ended = patience.Pause(); !ended.ok()) {
      return Naming(ended, absl::StrCat("interlockctl drops get ", drop_id));
    }
  }
}

// KILLED with files left behind is not all that was asked for.
ExitCode OutcomeOf(const v1::Drop& drop) {
  const ExitCode code = ExitCodeOf(drop.state());
  return code == kDone && drop.orphan_count() > 0 ? kNo : code;
}

// How a person lets it go on, for one that waits for that.
std::string ApproveHint(const v1::Drop& drop) {
  if (drop.state() != v1::Drop::AWAITING_APPROVAL) return "";
  const bool clocks = drop.reason() == "CLOCKS_DISAGREE";
  return absl::StrCat("; 'interlockctl drops approve ", drop.drop_id(),
                      clocks ? " --accept-clock' (for admins)" : "'", " lets it go on");
}

int PrintOutcome(Session& session, const v1::GetDropResponse& reply, ExitCode code) {
  session.Print(reply, {DropRows("drop"), BlockerRows("drop.blockers")});
  const v1::Drop& drop = reply.drop();
  if (code != kDone) {
    session.Complain(
        absl::StrCat(drop.reason().empty() ? "DROP_NOT_DONE" : drop.reason(), ": drop ",
                     drop.drop_id(), " is ", v1::Drop::State_Name(drop.state()),
                     drop.message().empty() ? "" : ": ", drop.message(), ApproveHint(drop)));
  }
  return code;
}

std::vector<Section> PlanView() {
  const auto versions = [](const char* list, const char* title) {
    return Section{list,
                   {{title, "interval"},
                    {"VERSION", "version"},
                    {"STANDING", "standing"},
                    {"SEGMENTS", "segment_count"},
                    {"ROWS", "row_count"},
                    {"BYTES", "size_bytes"}}};
  };
  return {
      versions("plan.versions", "GOES"),
      versions("plan.reveals", "WOULD BECOME VISIBLE"),
      versions("plan.partly_covered", "STAYS, REACHES BEYOND"),
      {"plan.entries",
       {{"SEGMENT", "segment.segment_id"},
        {"WAS VISIBLE", "was_visible"},
        {"BYTES", "segment.size_bytes"}}},
      BlockerRows("plan.blockers"),
      {"plan.notices", {{"NOTE", "reason"}, {"MESSAGE", "message"}, {"WHAT WOULD DO", "remedy"}}}};
}

int PrintPlan(Session& session, const v1::DropAndKillResponse& reply) {
  const v1::DropPlan& plan = reply.plan();
  if (session.output == Output::kTable) {
    session.PrintLine(absl::StrCat(
        plan.datasource(), ": ", plan.manifest().segment_count(), " segment(s), ",
        plan.manifest().visible_count(), " visible, ", plan.manifest().hidden_count(), " hidden, ",
        plan.manifest().size_bytes(), " bytes, ",
        plan.manifest().has_row_count() ? absl::StrCat(plan.manifest().row_count(), " rows")
                                        : "rows not counted",
        "; plan revision ", plan.plan_revision(), "\n"));
  }
  session.Print(reply, PlanView());
  return ExitCodeOf(plan);
}

}  // namespace

absl::StatusOr<int> RunDrop(Session& session) {
  v1::DropAndKillRequest request;
  for (const absl::Status& status : {CheckLease(session.arguments), session.Fill(request)}) {
    if (!status.ok()) return status;
  }
  v1::DropAndKillResponse reply;
  if (absl::Status status = CallOnce(session, request, reply); !status.ok()) return status;
  if (request.validate_only()) return PrintPlan(session, reply);
  if (!session.arguments.Given("wait")) {
    session.Print(reply, session.verb.view);
    return kDone;
  }
  const auto ended = AwaitDrop(session, reply.drop().drop_id(), KillIsSettled);
  if (!ended.ok()) return ended.status();
  return PrintOutcome(session, *ended, OutcomeOf(ended->drop()));
}

absl::StatusOr<int> RunPutRetention(Session& session) {
  v1::PutRetentionPolicyRequest request;
  if (absl::Status status = session.Fill(request); !status.ok()) return status;
  v1::PutRetentionPolicyResponse reply;
  if (absl::Status status = session.Call(session.verb.method, request, reply); !status.ok()) {
    return status;
  }
  std::vector<Section> view = session.verb.view;
  if (request.validate_only()) {
    view.push_back({"plans",
                    {{"WOULD DROP FROM", "datasource"},
                     {"INTERVALS", "intervals"},
                     {"SEGMENTS", "manifest.segment_count"},
                     {"ROWS", "manifest.row_count"},
                     {"BYTES", "manifest.size_bytes"},
                     {"WINDOW WOULD END", "window_end_time"}}});
    view.push_back(BlockerRows("plans.blockers"));
    view.push_back({"plans.notices", {{"NOTE", "reason"}, {"MESSAGE", "message"}}});
    if (reply.plans().empty()) session.Tell("nothing is old enough now: it would drop nothing");
  }
  session.Print(reply, view);
  return kDone;
}

absl::StatusOr<int> RunRestore(Session& session) {
  v1::RestoreDropRequest request;
  if (absl::Status status = session.Fill(request); !status.ok()) return status;
  v1::RestoreDropResponse reply;
  if (absl::Status status = session.Call(session.verb.method, request, reply); !status.ok()) {
    return status;
  }
  if (request.validate_only() || session.arguments.Given("no-wait")) {
    session.Print(reply, session.verb.view);
    return kDone;
  }
  const auto ended = AwaitDrop(session, request.drop_id(), RestoreIsSettled);
  if (!ended.ok()) return ended.status();
  return PrintOutcome(session, *ended, ended->drop().state() == v1::Drop::RESTORED ? kDone : kNo);
}

}  // namespace interlock::cli
