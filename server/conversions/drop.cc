#include "server/conversions/drop.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "lib/drop/check.h"
#include "lib/drop/observe.h"
#include "server/conversions/time.h"

namespace interlock::server {
namespace {

using google::protobuf::RepeatedPtrField;

// What kind of thing stands in the way, by the reason that lib/drop gives it.
v1::Blocker::Kind KindOf(const std::string& reason) {
  static const std::map<std::string, v1::Blocker::Kind> kKinds = {
      {drop::kHeld, v1::Blocker::RESERVATION},
      {"SEALED", v1::Blocker::SEAL},
      {drop::kMarkedUsedAgain, v1::Blocker::MARKED_USED_AGAIN},
      {drop::kNewerDataOver, v1::Blocker::NEWER_DATA},
      {drop::kSharedFile, v1::Blocker::SHARED_FILE},
      {drop::kNotOnManifest, v1::Blocker::NOT_ON_MANIFEST},
      {drop::kYoungerThanFloor, v1::Blocker::FLOOR},
      {drop::kLocked, v1::Blocker::DRUID_LOCK},
      {drop::kRunningTask, v1::Blocker::DRUID_TASK},
      {drop::kClocksDisagree, v1::Blocker::CLOCK},
      {drop::kOlderDataUnder, v1::Blocker::OLDER_DATA},
      {drop::kTimeOfMarkUnknown, v1::Blocker::DRUID_UNKNOWN},
      {drop::kCapReached, v1::Blocker::CAP},
      {"KILL_DUTY_INSIDE_WINDOW", v1::Blocker::KILL_DUTY},
      {"MISALIGNED", v1::Blocker::CROSSING_GRANULARITY},
      {"NOTHING_TO_DROP", v1::Blocker::NOTHING_THERE},
      {"TAIL", v1::Blocker::TAIL},
      {"ORPHANED", v1::Blocker::ORPHAN},
      {"BEHIND_WAITER", v1::Blocker::WAITER},
      {"LOCK_DELAY", v1::Blocker::LOCK_DELAY},
  };
  const auto found = kKinds.find(reason);
  return found == kKinds.end() ? v1::Blocker::KIND_UNSPECIFIED : found->second;
}

void AddObjection(const drop::Objection& objection, RepeatedPtrField<v1::Blocker>* blockers) {
  auto* proto = blockers->Add();
  proto->set_kind(KindOf(objection.reason));
  proto->set_reason(objection.reason);
  proto->set_blocking(true);
  if (Interval::Parse(objection.subject).ok()) {
    proto->set_interval(objection.subject);
    proto->set_message(objection.text);
    return;
  }
  if (objection.reason == drop::kRunningTask) proto->set_task_id(objection.subject);
  proto->set_message(objection.subject + ": " + objection.text);
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
  if (kill.running) ToProto(*kill.running, proto->mutable_run_time());
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

// Of the files whose rows are gone: one that is left behind outweighs all others, and one
// that nobody could look for all that were.
v1::Drop::StorageProbe ProbeOf(const drop::Manifest& rows) {
  int64_t killed = 0, gone = 0, unchecked = 0;
  for (const auto& row : rows) {
    const bool row_gone = row.phase == drop::Phase::kKilled || row.phase == drop::Phase::kLost;
    if (!row_gone || row.tombstone) continue;
    if (row.file == drop::File::kPresent) return v1::Drop::LEFT_BEHIND;
    ++killed;
    if (row.file == drop::File::kGone || row.file == drop::File::kShared) ++gone;
    if (row.file == drop::File::kUnchecked) ++unchecked;
  }
  if (killed == 0) return v1::Drop::STORAGE_PROBE_UNSPECIFIED;
  if (unchecked == killed) return v1::Drop::NOT_CHECKED;
  return gone == killed ? v1::Drop::GONE : v1::Drop::UNCLEAR;
}

bool Restorable(const drop::Drop& drop) {
  if (drop.revivable == 0 || drop.hold == drop::kNewerDataOver) return false;
  const drop::State state = drop.state;
  return state == drop::State::kMarked || state == drop::State::kChecking ||
         (state == drop::State::kAwaitingApproval && drop.marked) ||
         state == drop::State::kMarking || state == drop::State::kCancelled ||
         state == drop::State::kKillNotBounded || state == drop::State::kFailed;
}

v1::MetricSum SumOf(const std::string& measure, double value) {
  v1::MetricSum sum;
  sum.set_metric(measure);
  // Whole numbers below 2^53 are exact (Cluster::SumRows).
  if (std::trunc(value) == value && std::abs(value) < 9e15) {
    sum.set_long_value(static_cast<int64_t>(value));
  } else {
    sum.set_double_value(value);
  }
  return sum;
}

std::map<std::string, double> Totals(const drop::Sums& sums) {
  std::map<std::string, double> totals;
  for (const auto& one : sums) {
    totals["rows"] += static_cast<double>(one.rows);
    for (const auto& [metric, sum] : one.sums) totals[metric] += sum;
  }
  return totals;
}

// Before the mark, and after a restore where there was one.
void AddRowChecks(const drop::Drop& drop, RepeatedPtrField<v1::RowCheck>* checks) {
  if (!drop.sums_before) return;
  const auto before = Totals(*drop.sums_before);
  std::map<std::string, double> after;
  if (drop.sums_after) after = Totals(*drop.sums_after);
  const bool same = drop.sums_after && drop::SameSums(*drop.sums_before, *drop.sums_after);
  for (const auto& [measure, expected] : before) {
    auto* check = checks->Add();
    check->set_measure(measure);
    check->set_source(v1::RowCheck::LAST_PROOF);
    *check->mutable_expected() = SumOf(measure, expected);
    check->set_result(v1::RowCheck::NOT_PROVABLE);
    if (!drop.sums_after) continue;
    const double counted = after[measure];
    *check->mutable_counted() = SumOf(measure, counted);
    const auto unlike = counted > expected ? v1::RowCheck::MORE : v1::RowCheck::FEWER;
    check->set_result(same || counted == expected ? v1::RowCheck::EQUAL : unlike);
  }
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
  AddRowChecks(drop, proto->mutable_rows());
  if (drop.sums_before) {
    manifest->set_row_count(static_cast<int64_t>(Totals(*drop.sums_before)["rows"]));
  }
  if (drop::Holds(drop.state)) {
    proto->set_reservation_id(drop.reservation_id);
    proto->set_fencing_token(drop.token);
  }
  proto->set_restorable(Restorable(drop));
  proto->set_retention_policy(drop.retention_policy);
  proto->set_restored_by(drop.restored_by);
  proto->set_restore_reason(drop.restore_reason);
  proto->set_approve_reason(drop.approval_reason);
  proto->set_holder(drop.holder);
  proto->set_orphan_count(drop.orphans);
  proto->set_revision(drop.change);
}

void ToProto(const drop::Drops::Detail& detail, v1::Drop* proto) {
  ToProto(detail.drop, proto);
  int64_t orphans = 0;
  int64_t restored = 0;
  std::set<std::string> versions;
  for (const auto& row : detail.manifest) {
    if (drop::Orphaned(row)) ++orphans;
    if (row.phase == drop::Phase::kRestored) ++restored;
    if (row.phase != drop::Phase::kStays) versions.insert(row.version);
  }
  for (const auto& version : versions) proto->mutable_manifest()->add_versions(version);
  proto->set_orphan_count(orphans);
  proto->set_restored_count(restored);
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
  segment->set_shard_type(row.shard_type);
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
  for (const auto& interval : plan.leaves_empty) proto->add_leaves_empty(interval.ToString());
  for (const auto& blocker : plan.blockers) AddObjection(blocker, proto->mutable_blockers());
  for (const auto& note : plan.notes) AddNote(note, proto->mutable_notices());
  ToProto(plan.window_end, proto->mutable_window_end_time());
  if (!with_segments) return;
  for (const auto& row : plan.doomed()) ToProto(row, proto->add_entries());
}

}  // namespace interlock::server
