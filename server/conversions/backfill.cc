#include "server/conversions/backfill.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/sql_work.h"
#include "server/conversions/by_name.h"
#include "server/conversions/expectation.h"
#include "server/conversions/time.h"

namespace interlock::server {
namespace {

std::string String(absl::string_view text) { return {text.data(), text.size()}; }

void SetTails(const backfill::Backfills::Detail& detail, v1::Backfill* proto) {
  proto->set_tail_policy(ByName<v1::Backfill::TailPolicy>(backfill::NameOf(detail.tails.policy),
                                                          v1::Backfill::TailPolicy_Parse));
  if (detail.tails.policy == backfill::TailPolicy::kHandover) {
    ToProto(detail.tails.max_pause, proto->mutable_max_pause());
  }
  if (!detail.handover) return;
  const backfill::Handover& own = *detail.handover;
  auto* handover = proto->mutable_handover();
  handover->set_state(
      ByName<v1::Handover::State>(backfill::NameOf(own.state), v1::Handover::State_Parse));
  if (own.suspended) ToProto(*own.suspended, handover->mutable_suspend_time());
  if (own.resume_by) ToProto(*own.resume_by, handover->mutable_resume_by_time());
  if (own.resumed) ToProto(*own.resumed, handover->mutable_resume_time());
  for (const backfill::Supervised& one : own.supervisors) {
    auto* supervisor = handover->add_supervisors();
    supervisor->set_supervisor_id(one.id);
    supervisor->set_was_suspended(one.was_suspended);
    supervisor->mutable_committed_offsets()->insert(one.offsets.begin(), one.offsets.end());
  }
  if (handover->supervisors_size() > 0) {
    const auto& first = handover->supervisors(0);
    handover->set_supervisor_id(first.supervisor_id());
    handover->set_was_suspended(first.was_suspended());
    *handover->mutable_committed_offsets() = first.committed_offsets();
  }
  handover->set_reason(own.reason);
  handover->set_message(own.message);
  if (own.reason.empty()) return;
  // Why it has not begun, or ended before all was done.
  auto* notice = proto->add_notices();
  notice->set_reason(own.reason);
  notice->set_message(own.message);
}

// What is done about streams' tails, of fields that go together.
absl::StatusOr<backfill::TailTerms> TailsOf(const v1::SubmitBackfillRequest& request) {
  backfill::TailTerms terms;
  const v1::Backfill::TailPolicy policy = request.tail_policy();
  if (!v1::Backfill::TailPolicy_IsValid(policy)) {
    return InvalidField("/tail_policy", absl::StrCat("is ", static_cast<int>(policy)),
                        "REFUSE, WAIT_TAIL, HANDOVER or ACCEPT_UNBOUNDED");
  }
  if (policy != v1::Backfill::TAIL_POLICY_UNSPECIFIED) {
    terms.policy = backfill::TailPolicyOf(v1::Backfill::TailPolicy_Name(policy));
  }
  const bool hands_over = terms.policy == backfill::TailPolicy::kHandover;
  if (request.has_max_pause()) {
    terms.max_pause = FromProto(request.max_pause());
    if (!hands_over || terms.max_pause <= absl::ZeroDuration()) {
      return InvalidField("/max_pause",
                          hands_over ? "is not longer than 0" : "goes with tail_policy HANDOVER",
                          "a handover's longest pause, 10 min for one");
    }
  }
  terms.ends_at_committed_offsets = request.input_ends_at_committed_offsets();
  if (terms.ends_at_committed_offsets && !hands_over) {
    return InvalidField("/input_ends_at_committed_offsets", "goes with tail_policy HANDOVER",
                        "leave it out, or set tail_policy to HANDOVER");
  }
  terms.accept_concurrent_append = request.accept_concurrent_append();
  return terms;
}

absl::Status CheckBuilt(const v1::SubmitBackfillRequest& request) {
  // `correction` is SubmitCall's to honour.
  return CheckDurations(request);
}

backfill::Reprocess ReprocessOf(v1::Reprocess::Mode mode) {
  if (mode == v1::Reprocess::FAILED) return backfill::Reprocess::kFailed;
  if (mode == v1::Reprocess::ALL) return backfill::Reprocess::kAll;
  return backfill::Reprocess::kNone;
}

}  // namespace

v1::Backfill::State ToProto(backfill::Phase phase) {
  return ByName<v1::Backfill::State>(backfill::NameOf(phase), v1::Backfill::State_Parse);
}

std::optional<backfill::Phase> FromProto(v1::Backfill::State state) {
  const std::string& name = v1::Backfill::State_Name(state);
  const auto phase = backfill::PhaseOf(name);
  return String(backfill::NameOf(phase)) == name ? std::optional(phase) : std::nullopt;
}

void ToProto(const std::string& notice, v1::Notice* proto) {
  const size_t colon = notice.find(": ");
  proto->set_reason(notice.substr(0, colon));
  if (colon != std::string::npos) proto->set_message(notice.substr(colon + 2));
}

void ToProto(const backfill::SpecFault& warning, v1::Notice* proto) {
  proto->set_reason("SPEC_WARNING");
  proto->set_message(absl::StrCat(warning.pointer, ": ", warning.found));
  proto->set_remedy(warning.would_do);
}

void ToProto(const backfill::Backfills::Detail& detail, bool with_spec, v1::Backfill* proto) {
  const backfill::Backfill& backfill = detail.backfill;
  proto->set_backfill_id(backfill.id);
  proto->set_datasource(backfill.datasource);
  for (const auto& interval : backfill.intervals) proto->add_intervals(interval.ToString());
  proto->set_state(ToProto(backfill.phase));
  proto->set_reason(backfill.reason);
  proto->set_message(backfill.message);
  if (const auto calendar = backfill::ParseGranularity(backfill.granularity_json)) {
    ToProto(*calendar, proto->mutable_granularity());
  }
  proto->set_job(backfill.job);
  proto->set_job_version(backfill.job_version);
  proto->set_spec_digest(backfill.digest);
  if (with_spec) proto->set_spec(backfill.spec_json);
  proto->set_reprocess(backfill.reprocess == backfill::Reprocess::kAll      ? v1::Reprocess::ALL
                       : backfill.reprocess == backfill::Reprocess::kFailed ? v1::Reprocess::FAILED
                                                                            : v1::Reprocess::NONE);
  SetTails(detail, proto);
  proto->set_max_parallel(static_cast<int32_t>(backfill.max_parallel));
  proto->set_max_attempts(static_cast<int32_t>(backfill.max_attempts));
  proto->set_newest_first(backfill.newest_first);
  ToProto(backfill, proto->mutable_expect());
  proto->set_level(backfill.level == verify::Level::kVisible  ? v1::Proof::VISIBLE
                   : backfill.level == verify::Level::kServed ? v1::Proof::SERVED
                                                              : v1::Proof::RETIRED);
  proto->set_skip_held(backfill.skip_held);
  proto->set_reservation_id(backfill.reservation_id);
  proto->set_fencing_token(backfill.token);
  proto->set_requested_by(backfill.holder.empty() ? backfill.requested_by
                                                  : backfill.requested_by + "/" + backfill.holder);
  proto->set_request_id(backfill.request_id);
  proto->set_purpose(backfill.purpose);
  proto->set_request_reason(backfill.request_reason);
  proto->mutable_labels()->insert(backfill.labels.begin(), backfill.labels.end());
  ToProto(backfill.waiting_deadline, proto->mutable_waiting_deadline());
  ToProto(backfill.run_deadline, proto->mutable_run_deadline());
  ToProto(backfill.created, proto->mutable_create_time());
  if (backfill.started) ToProto(*backfill.started, proto->mutable_start_time());
  if (backfill.ended) {
    ToProto(*backfill.ended, proto->mutable_end_time());
    ToProto(*backfill.ended + backfill.rollback_window, proto->mutable_rollback_until_time());
  }
  if (backfill.deadline) ToProto(*backfill.deadline, proto->mutable_deadline_time());
  for (const auto& [state, count] : detail.counts) {
    auto* counted = proto->add_counts();
    counted->set_state(ToProto(state));
    counted->set_count(count);
  }
  for (const auto& notice : backfill.notices) ToProto(notice, proto->add_notices());
  proto->set_revision(backfill.revision);
  proto->mutable_rows()->set_known(detail.totals.rows_known);
  proto->mutable_rows()->set_processed(detail.totals.rows);
  proto->mutable_rows()->set_unparseable(detail.totals.unparseable);
  proto->mutable_rows()->set_thrown_away(detail.totals.thrown_away);
}

absl::StatusOr<backfill::BackfillRequest> FromProto(const v1::SubmitBackfillRequest& request) {
  if (auto status = CheckBuilt(request); !status.ok()) return status;
  backfill::BackfillRequest backfill;
  backfill.spec = request.spec();
  if (request.has_sql()) {
    backfill.sql = true;
    backfill.spec =
        backfill::ToJson(backfill::SqlWork{request.sql().query(), request.sql().context()});
  }
  backfill.job = request.job();
  backfill.plan_revision = request.plan_revision();
  backfill.expect_generation = request.expect_generation();
  if (request.has_rollback_window())
    backfill.rollback_window = FromProto(request.rollback_window());
  backfill.holder = request.holder();
  backfill.purpose = request.purpose();
  backfill.labels.insert(request.labels().begin(), request.labels().end());
  backfill.reprocess = ReprocessOf(request.reprocess());
  backfill.max_parallel = request.max_parallel();
  backfill.max_attempts = request.max_attempts();
  backfill.newest_first = request.newest_first();
  backfill.skip_held = request.skip_held();
  backfill.accept_widening = request.accept_widening();
  if (request.level() == v1::Proof::VISIBLE) backfill.level = verify::Level::kVisible;
  if (request.level() == v1::Proof::RETIRED) backfill.level = verify::Level::kRetired;
  if (request.has_waiting_deadline())
    backfill.waiting_deadline = FromProto(request.waiting_deadline());
  if (request.has_run_deadline()) backfill.run_deadline = FromProto(request.run_deadline());
  if (request.has_deadline()) backfill.deadline = FromProto(request.deadline());
  if (auto status = FromProto(request.expect(), &backfill); !status.ok()) return status;
  auto tails = TailsOf(request);
  if (!tails.ok()) return tails.status();
  backfill.tails = *tails;
  backfill.reservation_id = request.reservation_id();
  backfill.token = request.fencing_token();
  return backfill;
}

}  // namespace interlock::server
