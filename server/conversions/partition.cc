// Partitions of backfills, their attempts and proofs.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/conversions/backfill.h"
#include "server/conversions/by_name.h"
#include "server/conversions/time.h"
#include "server/conversions/verdict.h"

namespace interlock::server {
namespace {

// Whole numbers below 2^53 are exact as doubles.
constexpr double kExactUpTo = 9007199254740992.0;

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
    check->set_source(compared.by_twin ? v1::RowCheck::DATASOURCE : source);
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
  proto->set_segments_published(static_cast<int32_t>(rows.segments_published));
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
  for (const auto& change : proof.changes) ToProto(change, proto->add_neighbour_changes());
  ToProto(proof.snapshot, proto->mutable_snapshot_time());
  for (const auto& note : proof.notes) ToProto(note, proto->add_notices());
  proto->set_accepted_by(proof.accepted_by);
  proto->set_accept_reason(proof.accept_reason);
  if (proof.gap_ms) ToProto(absl::Milliseconds(*proof.gap_ms), proto->mutable_gap());
}

}  // namespace

v1::Partition::State ToProto(backfill::State state) {
  return ByName<v1::Partition::State>(backfill::NameOf(state), v1::Partition::State_Parse);
}

std::optional<backfill::State> FromProto(v1::Partition::State state) {
  const std::string& name = v1::Partition::State_Name(state);
  const auto found = backfill::StateOf(name);
  return backfill::NameOf(found) == name ? std::optional(found) : std::nullopt;
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
  for (const auto& obstacle : partition.blockers) ToProto(obstacle, proto->add_blockers());
  if (partition.state != backfill::State::kSuspect &&
      partition.state != backfill::State::kUndetermined) {
    return;
  }
  for (const auto& finding : partition.findings) ToProto(finding, proto->add_verdicts());
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
  std::string digests;
  for (const auto& read : attempt.before.reads) {
    absl::StrAppend(&digests, digests.empty() ? "" : ",", read.digest);
  }
  proto->set_sources_digest(digests);
  proto->set_reservation_id(attempt.reservation_id);
  proto->set_fencing_token(attempt.token);
  proto->set_abandoned_by(attempt.abandoned_by);
  proto->set_abandon_reason(attempt.abandon_reason);
}

}  // namespace interlock::server
