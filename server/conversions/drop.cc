#include "server/conversions/drop.h"

#include <algorithm>
#include <string>

#include "server/conversions/time.h"

namespace interlock::server {
namespace {

using google::protobuf::RepeatedPtrField;

void AddObjection(const drop::Objection& objection, RepeatedPtrField<v1::Blocker>* blockers) {
  auto* proto = blockers->Add();
  proto->set_reason(objection.reason);
  proto->set_message(objection.text);
  proto->set_blocking(true);
}

void AddNote(const drop::Note& note, RepeatedPtrField<v1::Notice>* notices) {
  auto* proto = notices->Add();
  proto->set_reason(note.reason);
  proto->set_message(note.text);
}

void AddKill(const drop::Kill& kill, int64_t proven, RepeatedPtrField<v1::KillTask>* kills) {
  auto* proto = kills->Add();
  proto->set_task_id(kill.task_id);
  proto->set_interval(kill.interval.ToString());
  for (const auto& version : kill.versions) proto->add_versions(version);
  ToProto(kill.not_after, proto->mutable_max_used_status_change_time());
  proto->set_druid_status(kill.outcome);
  proto->set_druid_error(kill.error);
  proto->set_failure_reason(kill.failure);
  proto->set_reported_count(kill.reported);
  proto->set_proven_count(proven);
  ToProto(kill.stored, proto->mutable_submit_time());
  if (kill.ended) ToProto(*kill.ended, proto->mutable_end_time());
}

v1::ManifestEntry::State StateOf(const drop::ManifestRow& row) {
  if (drop::Orphaned(row)) return v1::ManifestEntry::ORPHANED;
  switch (row.phase) {
    case drop::Phase::kMarked:
      return v1::ManifestEntry::UNUSED;
    case drop::Phase::kForeign:
      return v1::ManifestEntry::MARKED_BY_OTHERS;
    case drop::Phase::kRestored:
      return v1::ManifestEntry::RESTORED;
    case drop::Phase::kKilled:
    case drop::Phase::kLost:
      return v1::ManifestEntry::KILLED;
    default:
      return v1::ManifestEntry::LISTED;
  }
}

// Of all files: one that is left behind outweighs those that are gone.
v1::Drop::StorageProbe ProbeOf(const drop::Manifest& rows) {
  bool gone = false;
  bool unclear = false;
  for (const auto& row : rows) {
    if (drop::Orphaned(row)) return v1::Drop::LEFT_BEHIND;
    gone = gone || row.file == drop::File::kGone;
    unclear = unclear || row.file == drop::File::kDoubtful || row.file == drop::File::kPresent;
  }
  if (unclear) return v1::Drop::UNCLEAR;
  return gone ? v1::Drop::GONE : v1::Drop::NOT_CHECKED;
}

bool Restorable(drop::State state) {
  return state == drop::State::kMarked || state == drop::State::kAwaitingApproval ||
         state == drop::State::kMarking || state == drop::State::kCancelled ||
         state == drop::State::kKillNotBounded || state == drop::State::kFailed;
}

void AddStretches(const std::vector<drop::Stretch>& stretches,
                  RepeatedPtrField<v1::SegmentVersion>* versions) {
  for (const auto& stretch : stretches) {
    auto* proto = versions->Add();
    proto->set_interval(stretch.interval.ToString());
    proto->set_version(stretch.version);
    proto->set_standing(v1::SegmentVersion::HIDDEN);
    if (stretch.tombstone) proto->set_tombstone_count(1);
  }
}

void AddRows(const drop::Manifest& rows, RepeatedPtrField<v1::SegmentVersion>* versions) {
  for (const auto& row : rows) {
    const std::string interval = row.interval.ToString();
    auto found = std::find_if(versions->begin(), versions->end(), [&](const auto& version) {
      return version.interval() == interval && version.version() == row.version;
    });
    auto* proto = found == versions->end() ? versions->Add() : &*found;
    proto->set_interval(interval);
    proto->set_version(row.version);
    proto->set_standing(row.hidden ? v1::SegmentVersion::HIDDEN : v1::SegmentVersion::VISIBLE);
    proto->set_segment_count(proto->segment_count() + 1);
    proto->set_size_bytes(proto->size_bytes() + row.size_bytes);
    if (row.tombstone) proto->set_tombstone_count(proto->tombstone_count() + 1);
  }
}

}  // namespace

v1::Drop::State ToProto(drop::State state) {
  v1::Drop::State proto = v1::Drop::STATE_UNSPECIFIED;
  v1::Drop::State_Parse(drop::Name(state), &proto);
  return proto;
}

std::optional<drop::State> FromProto(v1::Drop::State state) {
  return drop::StateNamed(v1::Drop::State_Name(state));
}

void ToProto(const drop::Drop& drop, v1::Drop* proto) {
  proto->set_drop_id(drop.id);
  proto->set_datasource(drop.datasource);
  for (const auto& interval : drop.intervals) proto->add_intervals(interval.ToString());
  proto->set_state(ToProto(drop.state));
  proto->set_reason(drop.hold);
  proto->set_message(drop.message);
  proto->set_request_reason(drop.reason);
  proto->set_requested_by(drop.holder.empty() ? drop.requested_by
                                              : drop.requested_by + "/" + drop.holder);
  proto->set_request_id(drop.request_id);
  proto->mutable_labels()->insert(drop.labels.begin(), drop.labels.end());
  ToProto(drop.window_length(), proto->mutable_window());
  ToProto(drop.floor, proto->mutable_floor());
  proto->set_approval_required(drop.needs_approval);
  proto->set_approved_by(drop.approved_by);
  if (drop.approved) ToProto(*drop.approved, proto->mutable_approve_time());
  ToProto(drop.created, proto->mutable_create_time());
  if (drop.marked) ToProto(drop.marked->store, proto->mutable_mark_time());
  if (drop.window_end) ToProto(*drop.window_end, proto->mutable_window_end_time());
  if (drop.kill_started) ToProto(*drop.kill_started, proto->mutable_kill_start_time());
  if (drop.ended) ToProto(*drop.ended, proto->mutable_end_time());
  auto* manifest = proto->mutable_manifest();
  manifest->set_segment_count(drop.segment_count);
  manifest->set_hidden_count(drop.hidden_count);
  manifest->set_visible_count(drop.segment_count - drop.hidden_count);
  manifest->set_size_bytes(drop.size_bytes);
  manifest->set_digest(drop.digest);
  for (const auto& objection : drop.objections) AddObjection(objection, proto->mutable_blockers());
  for (const auto& note : drop.notes) AddNote(note, proto->mutable_notices());
  proto->set_reservation_id(drop.reservation_id);
  proto->set_fencing_token(drop.token);
  proto->set_restorable(Restorable(drop.state));
  proto->set_revision(drop.change);
}

void ToProto(const drop::Drops::Detail& detail, v1::Drop* proto) {
  ToProto(detail.drop, proto);
  int64_t orphans = 0;
  int64_t restored = 0;
  bool any_marked = false;
  for (const auto& row : detail.manifest) {
    if (drop::Orphaned(row)) ++orphans;
    if (row.phase == drop::Phase::kRestored) ++restored;
    any_marked = any_marked || row.phase == drop::Phase::kMarked;
  }
  proto->set_orphan_count(orphans);
  proto->set_restored_count(restored);
  proto->set_restorable(proto->restorable() && any_marked);
  proto->set_storage_probe(ProbeOf(detail.manifest));
  for (const auto& kill : detail.kills) {
    const auto proven = std::count_if(
        detail.manifest.begin(), detail.manifest.end(), [&](const drop::ManifestRow& row) {
          return row.phase == drop::Phase::kKilled && row.kill_task == kill.task_id;
        });
    AddKill(kill, proven, proto->mutable_kill_tasks());
  }
}

void ToProto(const drop::ManifestRow& row, v1::ManifestEntry* proto) {
  auto* segment = proto->mutable_segment();
  segment->set_segment_id(row.id);
  segment->set_interval(row.interval.ToString());
  segment->set_version(row.version);
  segment->set_partition_num(row.partition_num);
  segment->set_size_bytes(row.size_bytes);
  segment->set_load_spec(row.load_spec);
  if (row.unused_at) ToProto(*row.unused_at, segment->mutable_used_status_change_time());
  proto->set_was_visible(!row.hidden);
  proto->set_state(StateOf(row));
  segment->set_used(proto->state() == v1::ManifestEntry::LISTED ||
                    proto->state() == v1::ManifestEntry::RESTORED);
}

void ToProto(const drop::Plan& plan, bool with_segments, v1::DropPlan* proto) {
  proto->set_datasource(plan.datasource);
  for (const auto& interval : plan.intervals) proto->add_intervals(interval.ToString());
  proto->set_plan_revision(plan.digest());
  auto* manifest = proto->mutable_manifest();
  manifest->set_visible_count(plan.visible_count());
  manifest->set_hidden_count(plan.hidden_count());
  manifest->set_segment_count(plan.visible_count() + plan.hidden_count());
  manifest->set_size_bytes(plan.size_bytes());
  if (const auto rows = plan.row_count()) manifest->set_row_count(*rows);
  manifest->set_digest(plan.digest());
  for (const auto& version : plan.versions()) manifest->add_versions(version);
  AddRows(plan.doomed(), proto->mutable_versions());
  AddStretches(plan.reveals, proto->mutable_reveals());
  AddRows(plan.stays(), proto->mutable_partly_covered());
  for (const auto& blocker : plan.blockers) AddObjection(blocker, proto->mutable_blockers());
  for (const auto& note : plan.notes) AddNote(note, proto->mutable_notices());
  ToProto(plan.window_end, proto->mutable_window_end_time());
  if (!with_segments) return;
  for (const auto& row : plan.manifest) ToProto(row, proto->add_entries());
}

}  // namespace interlock::server
