#include "server/explain_call.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/lease/reservations.h"
#include "lib/sweep/findings.h"
#include "lib/sweep/look.h"
#include "server/conversions/backfill.h"
#include "server/conversions/drop.h"
#include "server/conversions/finding.h"
#include "server/conversions/reservation.h"
#include "server/conversions/seal.h"
#include "server/conversions/stream.h"
#include "server/conversions/time.h"
#include "server/conversions/verdict.h"
#include "server/datasource_name.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

// Of each kind of what was done lately.
constexpr int kMostLately = 20;
constexpr int kMostListed = 1'000;

void Note(const std::string& reason, const std::string& message,
          v1::ExplainIntervalResponse& response) {
  auto* notice = response.add_notices();
  notice->set_reason(reason);
  notice->set_message(message);
}

// What would be seen if all that is seen now were gone.
druid::Timeline Below(const druid::Timeline& timeline, const Interval& interval) {
  std::set<std::string> seen;
  for (const auto& slice : timeline.Visible(interval)) {
    for (const auto* segment : slice.segments) seen.insert(segment->id);
  }
  std::vector<druid::Segment> rest;
  for (const auto& segment : timeline.segments()) {
    if (seen.count(segment.id) == 0) rest.push_back(segment);
  }
  return druid::Timeline::Of(std::move(rest));
}

void TellReveals(const druid::Timeline& timeline, const Interval& interval, bool ids,
                 google::protobuf::RepeatedPtrField<v1::SegmentVersion>* reveals) {
  google::protobuf::RepeatedPtrField<v1::SegmentVersion> below;
  AddVersions(Below(timeline, interval), interval, ids, &below);
  for (auto& version : below) {
    if (version.standing() == v1::SegmentVersion::VISIBLE) *reveals->Add() = std::move(version);
  }
}

void TellLock(const druid::TaskLock& lock, const Interval& part,
              v1::ExplainIntervalResponse& response) {
  auto* blocker = response.add_blockers();
  blocker->set_kind(v1::Blocker::DRUID_LOCK);
  blocker->set_reason("DRUID_LOCK");
  blocker->set_interval(part.ToString());
  blocker->set_holder(lock.group_id);
  blocker->set_task_id(lock.group_id);
  blocker->set_priority(static_cast<int32_t>(lock.priority));
  blocker->set_blocking(!absl::StartsWith(lock.group_id, "il-"));
  blocker->set_message(absl::StrCat("Druid has given ", lock.group_id, " a ", lock.type,
                                    " lock of priority ", lock.priority));
  blocker->set_remedy("wait until the task has ended");
}

void TellTask(const druid::TaskStatus& task, v1::ExplainIntervalResponse& response) {
  auto* blocker = response.add_blockers();
  blocker->set_kind(v1::Blocker::DRUID_TASK);
  blocker->set_reason("DRUID_TASK");
  blocker->set_task_id(task.id);
  blocker->set_holder(task.id);
  if (task.created) ToProto(*task.created, blocker->mutable_since_time());
  blocker->set_message(absl::StrCat("a task of type ", task.type, " is ", task.runner_state,
                                    "; its locks say where it writes"));
}

}  // namespace

grpc::ServerUnaryReactor* ExplainCall::Call(grpc::CallbackServerContext* context,
                                            const v1::ExplainIntervalRequest* request,
                                            v1::ExplainIntervalResponse* response) {
  return Unary(context, request, world_.executor,
               [this, request, response] { return Explain(*request, *response); });
}

absl::Status ExplainCall::Explain(const v1::ExplainIntervalRequest& request,
                                  v1::ExplainIntervalResponse& response) {
  if (absl::Status named = CheckDatasource(request.datasource()); !named.ok()) return named;
  google::protobuf::RepeatedPtrField<std::string> given;
  *given.Add() = request.interval();
  auto read = FromProto(given, "interval");
  if (!read.ok()) return read.status();
  *response.mutable_reading() = std::move(read->readings.front());
  const Interval interval = read->intervals.front();
  if (auto status = TellSegments(request, interval, response); !status.ok()) return status;
  if (request.include_unused()) TellUnused(request, interval, response);
  if (auto status = TellStore(request.datasource(), interval, response); !status.ok()) {
    return status;
  }
  TellDruid(request.datasource(), interval, response);
  if (auto status = TellSealsAndStreams(request.datasource(), interval, response); !status.ok()) {
    return status;
  }
  return TellHistory(request.datasource(), interval, response);
}

absl::Status ExplainCall::TellSegments(const v1::ExplainIntervalRequest& request,
                                       const Interval& interval,
                                       v1::ExplainIntervalResponse& response) {
  sweep::LookQuestion question;
  question.datasource = request.datasource();
  question.interval = interval;
  question.now = world_.store.Now();
  question.grace = settings_.grace;
  question.max_partitions = settings_.max_partitions;
  auto look = sweep::LookAt(world_.cluster, question);
  if (!look.ok()) return look.status();
  ToProto(question.now, response.mutable_snapshot_time());
  if (look->not_told) {
    const bool unknown = look->not_told->reason == "UNKNOWN_DATASOURCE";
    Note(unknown ? look->not_told->reason : "SEGMENTS_NOT_TOLD", look->not_told->message, response);
    response.mutable_notices()->rbegin()->set_remedy(look->not_told->next);
  }
  if (look->calendar) ToProto(*look->calendar, response.mutable_granularity());
  for (const auto& verdict : look->verdicts) {
    ToProto(verdict, look->timeline, request.include_segment_ids(), response.add_partitions());
  }
  TellReveals(look->timeline, interval, request.include_segment_ids(), response.mutable_reveals());
  return absl::OkStatus();
}

void ExplainCall::TellUnused(const v1::ExplainIntervalRequest& request, const Interval& interval,
                             v1::ExplainIntervalResponse& response) {
  const auto unused = world_.cluster.ListUnusedSegments(request.datasource(), interval);
  if (!unused.done()) return Note("UNUSED_NOT_TOLD", unused.text(), response);
  for (auto& partition : *response.mutable_partitions()) {
    const auto within = Interval::Parse(partition.partition());
    if (!within.ok()) continue;
    AddUnused(unused.value(), *within, request.include_segment_ids(), partition.mutable_versions());
  }
}

absl::Status ExplainCall::TellStore(const std::string& datasource, const Interval& interval,
                                    v1::ExplainIntervalResponse& response) {
  return world_.store.Read([&](store::Transaction& tx) {
    response.clear_reservations();
    response.clear_blockers();
    response.clear_findings();
    lease::Filter live;
    live.datasource = datasource;
    live.overlapping = interval;
    auto reservations = lease::List(tx, live, {kMostListed, ""});
    if (!reservations.ok()) return reservations.status();
    for (const auto& reservation : reservations->reservations) {
      ToProto(reservation, tx.now(), response.add_reservations());
    }
    auto held =
        lease::FindHeld(tx, datasource, lease::Mode::kReplace, {interval}, kMostListed, limits_);
    if (!held.ok()) return held.status();
    for (const auto& one : *held) {
      auto* blocker = response.add_blockers();
      ToProto(one, blocker);
      blocker->set_blocking(true);
    }
    sweep::Filter open;
    open.datasource = datasource;
    open.overlapping = interval;
    auto findings = sweep::List(tx, open, kMostListed, "");
    if (!findings.ok()) return findings.status();
    for (const auto& finding : findings->findings) ToProto(finding, response.add_findings());
    return absl::OkStatus();
  });
}

void ExplainCall::TellDruid(const std::string& datasource, const Interval& interval,
                            v1::ExplainIntervalResponse& response) {
  const auto locks = world_.cluster.ListLocks(datasource, {interval});
  if (!locks.done()) Note("LOCKS_NOT_TOLD", locks.text(), response);
  if (locks.done()) {
    for (const auto& lock : locks.value()) {
      const auto part = lock.interval.Intersect(interval);
      if (part) TellLock(lock, *part, response);
    }
  }
  const auto tasks = world_.cluster.ListLiveTasks(datasource);
  if (!tasks.done()) return Note("TASKS_NOT_TOLD", tasks.text(), response);
  for (const auto& task : tasks.value()) {
    if (task.top_level()) TellTask(task, response);
  }
}

absl::Status ExplainCall::TellSealsAndStreams(const std::string& datasource,
                                              const Interval& interval,
                                              v1::ExplainIntervalResponse& response) {
  seal::Seals::Filter overlapping;
  overlapping.datasource = datasource;
  overlapping.overlapping = interval;
  const auto seals = world_.seals.List(overlapping, seal::kMostInPage, "");
  if (!seals.ok()) return seals.status();
  for (const auto& seal : seals->seals) ToProto(seal, response.add_seals());
  const auto streams = world_.streams.List(datasource, kMostListed, "");
  if (!streams.ok()) return streams.status();
  for (const auto& told : streams->streams) {
    ToProto(told, world_.store.Now(), response.add_streams());
    for (const auto& notice : told.notices) ToProto(notice, response.add_notices());
  }
  return absl::OkStatus();
}

absl::Status ExplainCall::TellHistory(const std::string& datasource, const Interval& interval,
                                      v1::ExplainIntervalResponse& response) {
  backfill::Backfills::Filter of_backfills;
  of_backfills.datasource = datasource;
  of_backfills.overlapping = interval;
  auto backfills = world_.backfills.List(of_backfills, kMostLately, "");
  if (!backfills.ok()) return backfills.status();
  for (const auto& detail : backfills->backfills) {
    ToProto(detail, false, response.add_backfills());
  }
  drop::Filter of_drops;
  of_drops.datasource = datasource;
  of_drops.overlapping = interval;
  auto drops = world_.drops.List(of_drops, kMostLately, "");
  if (!drops.ok()) return drops.status();
  for (const auto& drop : drops->drops) ToProto(drop, response.add_drops());
  return absl::OkStatus();
}

}  // namespace interlock::server
