#include "server/conversions/backfill.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/sql_work.h"
#include "server/conversions/expectation.h"
#include "server/conversions/time.h"
#include "server/field_not_built.h"

namespace interlock::server {
namespace {

std::string String(absl::string_view text) { return {text.data(), text.size()}; }

// Whole numbers below 2^53 are exact as doubles.
constexpr double kExactUpTo = 9007199254740992.0;

// The names of both sides are the same words.
template <class Proto, class Parse>
Proto ByName(absl::string_view name, Parse parse) {
  Proto proto = static_cast<Proto>(0);
  parse(String(name), &proto);
  return proto;
}

void AddVersions(const std::vector<std::string>& versions, const Interval& partition,
                 google::protobuf::RepeatedPtrField<v1::SegmentVersion>* protos) {
  for (const auto& version : versions) {
    auto* proto = protos->Add();
    proto->set_interval(partition.ToString());
    proto->set_version(version);
    proto->set_standing(v1::SegmentVersion::VISIBLE);
  }
}

void SetSum(const std::string& measure, double value, v1::MetricSum* proto) {
  if (measure != "rows") proto->set_metric(measure);
  if (value == std::floor(value) && std::fabs(value) < kExactUpTo) {
    proto->set_long_value(static_cast<int64_t>(value));
  } else {
    proto->set_double_value(value);
  }
}

void AddRowChecks(const backfill::Proof& proof, v1::Proof* proto) {
  const auto source =
      proof.row_rule == "SOURCE_SUMS" ? v1::RowCheck::INPUT_GENERATION : v1::RowCheck::TASK_REPORT;
  for (const auto& compared : proof.compared) {
    auto* check = proto->add_rows();
    check->set_measure(compared.measure);
    check->set_source(source);
    SetSum(compared.measure, compared.found, check->mutable_counted());
    SetSum(compared.measure, compared.expected, check->mutable_expected());
    check->set_result(backfill::EqualSums(compared.found, compared.expected) ? v1::RowCheck::EQUAL
                      : compared.found > compared.expected                   ? v1::RowCheck::MORE
                                                                             : v1::RowCheck::FEWER);
  }
  if (!proof.compared.empty()) return;
  auto* check = proto->add_rows();
  check->set_measure("rows");
  check->set_source(proof.row_rule == "NOT_PROVABLE" ? v1::RowCheck::SOURCE_UNSPECIFIED : source);
  check->set_result(proof.row_rule == "NOT_PROVABLE" ? v1::RowCheck::NOT_PROVABLE
                                                     : v1::RowCheck::UNKNOWN);
}

void SetTaskRows(const backfill::TaskRows& rows, v1::TaskRows* proto) {
  proto->set_known(true);
  proto->set_processed(rows.processed);
  proto->set_processed_with_error(rows.processed_with_error);
  proto->set_thrown_away(rows.thrown_away);
  proto->set_unparseable(rows.unparseable);
}

void SetProof(const backfill::Proof& proof, const Interval& partition, v1::Proof* proto) {
  proto->set_partition(partition.ToString());
  proto->set_level(ByName<v1::Proof::Level>(proof.level, v1::Proof::Level_Parse));
  proto->set_task_id(proof.task_id);
  proto->set_generation(proof.version);
  proto->set_attribution(proof.attribution);
  AddVersions(proof.versions_before, partition, proto->mutable_before());
  if (!proof.version.empty()) {
    AddVersions({proof.version}, partition, proto->mutable_after());
    auto& after = *proto->mutable_after(0);
    after.set_segment_count(static_cast<int32_t>(proof.segments));
    if (proof.level != "VISIBLE") after.set_loaded_count(after.segment_count());
    after.set_task_id(proof.task_id);
    if (proof.rows) after.set_row_count(*proof.rows);
  }
  AddRowChecks(proof, proto);
  if (proof.task_rows) SetTaskRows(*proof.task_rows, proto->mutable_task_rows());
  proto->set_neighbours_before(proof.neighbours_before);
  proto->set_neighbours_after(proof.neighbours_after);
  for (const auto& change : proof.neighbour_changes) {
    auto* notice = proto->add_notices();
    notice->set_reason("NEIGHBOUR_CHANGE_EXPLAINED");
    notice->set_message(change);
  }
  ToProto(proof.snapshot, proto->mutable_snapshot_time());
  for (const auto& note : proof.notes) ToProto(note, proto->add_notices());
  proto->set_accepted_by(proof.accepted_by);
  proto->set_accept_reason(proof.accept_reason);
  if (proof.gap_ms) ToProto(absl::Milliseconds(*proof.gap_ms), proto->mutable_gap());
}

void SetReplaced(const backfill::Replaced& replaced, v1::SegmentVersion* proto) {
  proto->set_interval(replaced.chunk.ToString());
  proto->set_version(replaced.version);
  proto->set_standing(v1::SegmentVersion::VISIBLE);
  proto->set_segment_count(static_cast<int32_t>(replaced.segments));
  proto->set_appended_count(static_cast<int32_t>(replaced.appended));
  proto->set_tombstone_count(static_cast<int32_t>(replaced.tombstones));
  proto->set_size_bytes(replaced.bytes);
  proto->set_by_compaction(replaced.by_compaction);
  if (replaced.rows) proto->set_row_count(*replaced.rows);
}

void SetBlocker(const backfill::Obstacle& obstacle, v1::Blocker* proto) {
  proto->set_kind(ByName<v1::Blocker::Kind>(obstacle.kind, v1::Blocker::Kind_Parse));
  proto->set_reason(obstacle.reason);
  proto->set_interval(obstacle.interval.ToString());
  proto->set_holder(obstacle.holder);
  proto->set_purpose(obstacle.purpose);
  proto->set_reservation_id(obstacle.reservation_id);
  proto->set_task_id(obstacle.task_id);
  proto->set_priority(static_cast<int32_t>(obstacle.priority));
  if (obstacle.since) ToProto(*obstacle.since, proto->mutable_since_time());
  if (obstacle.until) ToProto(*obstacle.until, proto->mutable_until_time());
  proto->set_message(obstacle.message);
  proto->set_remedy(obstacle.remedy);
  proto->set_blocking(obstacle.blocking);
}

v1::PlannedPartition::Action ActionOf(backfill::PlannedPartition::Action action) {
  switch (action) {
    case backfill::PlannedPartition::Action::kRun:
      return v1::PlannedPartition::RUN;
    case backfill::PlannedPartition::Action::kSkipDone:
      return v1::PlannedPartition::SKIP_DONE;
    case backfill::PlannedPartition::Action::kSkipHeld:
      return v1::PlannedPartition::SKIP_HELD;
    case backfill::PlannedPartition::Action::kBlocked:
      return v1::PlannedPartition::BLOCKED;
    case backfill::PlannedPartition::Action::kWaitForStream:
      return v1::PlannedPartition::WAIT_FOR_STREAM;
  }
  return v1::PlannedPartition::ACTION_UNSPECIFIED;
}

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

v1::Partition::State ToProto(backfill::State state) {
  return ByName<v1::Partition::State>(backfill::NameOf(state), v1::Partition::State_Parse);
}

std::optional<backfill::State> FromProto(v1::Partition::State state) {
  const std::string& name = v1::Partition::State_Name(state);
  const auto found = backfill::StateOf(name);
  return String(backfill::NameOf(found)) == name ? std::optional(found) : std::nullopt;
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

void ToProto(const backfill::SpecChange& change, v1::SpecChange* proto) {
  proto->set_pointer(change.pointer);
  proto->set_before(change.before);
  proto->set_after(change.after);
  proto->set_reason(change.reason);
}

void ToProto(const backfill::SpecCorrection& correction, v1::BackfillPlan* proto) {
  proto->set_corrected_spec(correction.spec);
  for (const auto& change : correction.changes) ToProto(change, proto->add_spec_changes());
  for (const auto& fault : correction.left) {
    ToProto(fault, proto->add_notices());
    proto->mutable_notices(proto->notices_size() - 1)->set_reason("SPEC_INVALID");
  }
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
}

void ToProto(const backfill::StoredPartition& partition, v1::Partition* proto) {
  proto->set_partition(partition.partition.ToString());
  proto->set_state(ToProto(partition.state));
  proto->set_reason(partition.reason);
  proto->set_message(partition.message);
  ToProto(partition.since, proto->mutable_state_time());
  if (partition.proof) SetProof(*partition.proof, partition.partition, proto->mutable_proof());
  proto->set_unit(partition.unit_key);
  proto->set_attempt_count(static_cast<int32_t>(partition.attempts));
  proto->set_task_id(partition.task_id.empty() && partition.proof ? partition.proof->task_id
                                                                  : partition.task_id);
}

void ToProto(const backfill::Attempt& attempt, v1::Attempt* proto) {
  proto->set_task_id(attempt.task_id);
  proto->set_number(static_cast<int32_t>(attempt.number));
  proto->set_unit(attempt.unit_key);
  proto->set_state(
      ByName<v1::Attempt::State>(backfill::NameOf(attempt.state), v1::Attempt::State_Parse));
  proto->set_druid_status(attempt.druid_status);
  proto->set_druid_error(attempt.druid_error);
  ToProto(attempt.intended, proto->mutable_intent_time());
  if (attempt.posted) ToProto(*attempt.posted, proto->mutable_submit_time());
  if (attempt.running) ToProto(*attempt.running, proto->mutable_start_time());
  if (attempt.ended) ToProto(*attempt.ended, proto->mutable_end_time());
  if (attempt.rows) SetTaskRows(*attempt.rows, proto->mutable_rows());
  proto->set_reservation_id(attempt.reservation_id);
  proto->set_fencing_token(attempt.token);
  proto->set_abandoned_by(attempt.abandoned_by);
  proto->set_abandon_reason(attempt.abandon_reason);
}

void ToProto(const backfill::Plan& plan, v1::BackfillPlan* proto) {
  proto->set_datasource(plan.datasource);
  for (const auto& interval : plan.intervals) proto->add_intervals(interval.ToString());
  if (const auto calendar = backfill::ParseGranularity(plan.granularity_json)) {
    ToProto(*calendar, proto->mutable_granularity());
  }
  proto->set_plan_revision(plan.revision);
  proto->set_spec_id(plan.label);
  proto->set_job(plan.job);
  proto->set_job_version(plan.job_version);
  proto->set_corrected_spec(backfill::IsSql(plan.spec_json)
                                ? backfill::SqlWorkFrom(plan.spec_json).query
                                : plan.spec_json);
  for (const auto& change : plan.changes) ToProto(change, proto->add_spec_changes());
  for (const auto& planned : plan.units) {
    auto* unit = proto->add_units();
    unit->set_unit(planned.unit.key());
    for (const auto& interval : planned.unit.intervals) unit->add_intervals(interval.ToString());
    unit->set_partition_count(static_cast<int32_t>(planned.unit.partitions.size()));
    unit->set_reads(planned.reads);
    if (planned.unit.partitions.size() == 1) continue;
    unit->set_coarse_reason(plan.why_cut);
    unit->set_remedy(plan.finer);
  }
  for (const auto& planned : plan.partitions) {
    auto* partition = proto->add_partitions();
    partition->set_partition(planned.partition.ToString());
    partition->set_action(ActionOf(planned.action));
    for (const auto& replaced : planned.replaces) SetReplaced(replaced, partition->add_replaces());
    partition->set_generation(planned.generation());
    for (const auto& obstacle : planned.obstacles) SetBlocker(obstacle, partition->add_blockers());
  }
  for (const auto& obstacle : plan.obstacles) SetBlocker(obstacle, proto->add_blockers());
  if (!plan.generation_read.empty()) proto->set_generation_read(plan.generation_read);
  for (const auto& notice : plan.notices) ToProto(notice, proto->add_notices());
  for (const auto& warning : plan.warnings) ToProto(warning, proto->add_notices());
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
