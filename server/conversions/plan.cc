// Plans of backfills, and what is in their way.
#include "lib/backfill/sql_work.h"
#include "server/conversions/backfill.h"
#include "server/conversions/by_name.h"
#include "server/conversions/time.h"

namespace interlock::server {
namespace {

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

}  // namespace

void ToProto(const backfill::Obstacle& obstacle, v1::Blocker* proto) {
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
    for (const auto& obstacle : planned.obstacles) ToProto(obstacle, partition->add_blockers());
  }
  for (const auto& obstacle : plan.obstacles) ToProto(obstacle, proto->add_blockers());
  if (!plan.generation_read.empty()) proto->set_generation_read(plan.generation_read);
  for (const auto& notice : plan.notices) ToProto(notice, proto->add_notices());
  for (const auto& warning : plan.warnings) ToProto(warning, proto->add_notices());
}

}  // namespace interlock::server
