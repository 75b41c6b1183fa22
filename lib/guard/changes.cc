#include "lib/guard/changes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/guard/findings.h"
#include "lib/guard/reach.h"
#include "lib/guard/rows.h"
#include "lib/lease/reservations.h"
#include "lib/time/duration.h"

namespace interlock::guard {
namespace {

constexpr int64_t kMostLeases = 20;
// What somebody did and that is no state of the stream's is told for so long.
constexpr absl::Duration kToldFor = absl::Hours(24);

std::string SubjectOf(const char* kind, const Stream& stream, absl::string_view what) {
  return absl::StrCat(kind, "|", stream.datasource, "|", stream.name, "|", what);
}

Finding About(const char* kind, const char* reason, const Stream& stream) {
  Finding finding;
  finding.subject = SubjectOf(kind, stream, reason);
  finding.kind = kind;
  finding.reason = reason;
  finding.datasource = stream.datasource;
  finding.stream = stream.name;
  return finding;
}

absl::Status ReportTailMove(store::Transaction& tx, const Stream& before, const Stream& after) {
  if (!after.tail.any) return absl::OkStatus();
  // One that was not there began nowhere.
  const Instant was = before.tail.any ? before.tail.bound.StartAt(tx.now()) : Instant::kMax;
  const Instant is = after.tail.bound.StartAt(tx.now());
  if (is >= was) return absl::OkStatus();
  const Interval moved = Interval::Between(is, was);
  auto held = lease::FindHeld(tx, after.datasource, lease::Mode::kAppend, {moved}, kMostLeases);
  if (!held.ok()) return held.status();
  Finding finding = About(kTailMovedBack, "TAIL_MOVED_BACK", after);
  std::vector<std::string> holders;
  for (const lease::Held& one : *held) {
    if (one.reservation_id.empty()) continue;
    finding.intervals.push_back(one.interval);
    holders.push_back(absl::StrCat(one.holder, " (", one.reservation_id, ")"));
  }
  if (holders.empty()) return absl::OkStatus();
  finding.message = absl::StrCat("the tail of stream ", after.name, " moved back from ",
                                 was == Instant::kMax ? "nowhere" : was.ToString(), " to ",
                                 after.tail.bound.unbounded() ? "no bound at all" : is.ToString(),
                                 ", over live leases of ", absl::StrJoin(holders, ", "),
                                 "; none is revoked, and what is not submitted yet is held");
  finding.remedy = "let the leases end, or give the supervisor its late-message bound back";
  return Report(tx, finding).status();
}

// Once no lease that it moved over is left.
absl::Status CloseTailMove(store::Transaction& tx, const Stream& stream) {
  const std::string subject = SubjectOf(kTailMovedBack, stream, "TAIL_MOVED_BACK");
  auto open = ListFindings(tx, stream.datasource, /*only_open=*/true, kMostLeases);
  if (!open.ok()) return open.status();
  const bool told = std::any_of(open->begin(), open->end(),
                                [&](const Finding& one) { return one.subject == subject; });
  if (!told) return absl::OkStatus();
  const Interval tail = Interval::Between(stream.tail.bound.StartAt(tx.now()), Instant::kMax);
  auto held = lease::FindHeld(tx, stream.datasource, lease::Mode::kAppend, {tail}, kMostLeases);
  if (!held.ok()) return held.status();
  const bool leased = std::any_of(held->begin(), held->end(), [](const lease::Held& one) {
    return !one.reservation_id.empty();
  });
  return leased ? absl::OkStatus() : Close(tx, subject);
}

absl::Status CloseTold(store::Transaction& tx) {
  return tx
      .Execute(
          "UPDATE guard_finding SET close_ms = :now WHERE kind = :kind AND close_ms IS NULL AND"
          " reason IN ('SUPERVISOR_REPLACED', 'RESUMED_BY_OTHERS', 'TERMINATED') AND"
          " seen_ms < :before",
          {tx.now(), std::string(kSupervisorChanged), tx.now() - kToldFor})
      .status();
}

absl::Status ReportOtherSpec(store::Transaction& tx, const Stream& before, const Stream& after) {
  if (before.spec_digest.empty() || before.spec_digest == after.spec_digest) {
    return absl::OkStatus();
  }
  Finding finding = About(kSupervisorChanged, "SUPERVISOR_REPLACED", after);
  finding.message =
      absl::StrCat("somebody posted another spec for supervisor ", after.supervisor_id,
                   before.topic == after.topic
                       ? std::string()
                       : absl::StrCat(": it reads ", after.topic, " now, and read ", before.topic),
                   "; on this Druid a datasource's second supervisor replaces the first");
  finding.remedy = "compare GET /druid/indexer/v1/supervisor/ID/history, and post the one meant";
  return Report(tx, finding).status();
}

absl::Status ReportSuspension(store::Transaction& tx, const Stream& before, const Stream& after) {
  if (!before.health || !after.health || before.health->suspended == after.health->suspended) {
    return absl::OkStatus();
  }
  const bool ours = !before.suspended_for.empty() || !after.suspended_for.empty();
  // Suspended while a handover has it: that was asked for. Resumed then: it was not.
  if (ours && after.health->suspended) return absl::OkStatus();
  if (ours && before.suspended_for != after.suspended_for) return absl::OkStatus();
  const char* reason = after.health->suspended ? "SUSPENDED_BY_OTHERS" : "RESUMED_BY_OTHERS";
  Finding finding = About(kSupervisorChanged, reason, after);
  finding.backfill_id = before.suspended_for;
  finding.message =
      absl::StrCat("somebody else ", after.health->suspended ? "suspended" : "resumed",
                   " supervisor ", after.supervisor_id,
                   ours ? absl::StrCat(", which a handover of backfill ", before.suspended_for,
                                       " had suspended: what is not submitted yet is held")
                        : "");
  return Report(tx, finding).status();
}

absl::Status ReportOrClose(store::Transaction& tx, bool wrong, const Finding& finding) {
  return wrong ? Report(tx, finding).status() : Close(tx, finding.subject);
}

Finding Unhealthy(const Stream& stream) {
  Finding finding = About(kSupervisorChanged, "UNHEALTHY", stream);
  if (!stream.health) return finding;
  finding.message = absl::StrCat("supervisor ", stream.supervisor_id, " is not healthy (",
                                 stream.health->state, ")",
                                 stream.health->recent_errors.empty()
                                     ? std::string()
                                     : absl::StrCat(": ", stream.health->recent_errors.front()),
                                 "; its tail stays as it is");
  return finding;
}

Finding OtherTopic(const Stream& stream, const Seen& seen) {
  Finding finding = About(kSupervisorChanged, "ADOPTED_TASK", stream);
  for (const druid::StreamTask& task : seen.tasks) {
    if (task.stream.empty() || stream.topic.empty() || task.stream == stream.topic) continue;
    finding.task_ids.push_back(task.id);
    finding.message = absl::StrCat("supervisor ", stream.supervisor_id, " reads ", stream.topic,
                                   " by its spec, and its task reads ", task.stream,
                                   ": it adopted another supervisor's");
    finding.remedy = "suspend it, wait until its tasks are gone, and resume it";
  }
  return finding;
}

absl::Status ReportThrownAway(store::Transaction& tx, const Stream& stream) {
  if (!stream.health || stream.health->thrown_away == 0) return absl::OkStatus();
  Finding finding = About(kRowsThrownAway, "ROWS_THROWN_AWAY", stream);
  finding.amount = stream.health->thrown_away;
  finding.task_ids = stream.health->task_ids;
  finding.message = absl::StrCat(
      "stream ", stream.name, " threw ", finding.amount,
      " rows away since it was first seen: outside its time bounds, which move on while a task "
      "lives, or dropped by its filter; Druid says no more of them than this number");
  finding.remedy = "give it a longer lateMessageRejectionPeriod, or recompute what they belong to";
  // A number that stands still is no new loss: then the last sight stays where it was.
  auto open = ListFindings(tx, stream.datasource, /*only_open=*/false, kMostLeases);
  if (!open.ok()) return open.status();
  for (const Finding& one : *open) {
    if (one.subject == finding.subject && one.amount == finding.amount) return absl::OkStatus();
  }
  return Report(tx, finding).status();
}

}  // namespace

absl::Status ReportChanges(store::Transaction& tx, const Stream& before, const Stream& after) {
  absl::Status status = ReportTailMove(tx, before, after);
  if (status.ok()) status = ReportOtherSpec(tx, before, after);
  if (status.ok()) status = ReportSuspension(tx, before, after);
  return status;
}

absl::Status ReportState(store::Transaction& tx, const Stream& stream, const Seen& seen,
                         const Options& options) {
  const bool unhealthy = stream.health && !stream.health->healthy;
  absl::Status status = ReportOrClose(tx, unhealthy, Unhealthy(stream));
  const Finding other = OtherTopic(stream, seen);
  if (status.ok()) status = ReportOrClose(tx, !other.task_ids.empty(), other);
  if (status.ok()) status = ReportThrownAway(tx, stream);
  if (status.ok()) status = CloseTailMove(tx, stream);
  // It is there, and not suspended.
  if (status.ok() && stream.health && !stream.health->suspended) {
    status = Close(tx, SubjectOf(kSupervisorChanged, stream, "SUSPENDED_BY_OTHERS"));
  }
  if (status.ok() && seen.supervisor) {
    status = Close(tx, SubjectOf(kSupervisorChanged, stream, "TERMINATED"));
  }
  if (status.ok()) status = CloseUnseen(tx, kRowsThrownAway, tx.now() - options.thrown_quiet);
  return status;
}

absl::Status ReportGone(store::Transaction& tx, const Stream& stream) {
  Finding finding = About(kSupervisorChanged, "TERMINATED", stream);
  finding.message = absl::StrCat("supervisor ", stream.supervisor_id, " is gone");
  absl::Status status = Report(tx, finding).status();
  for (const char* reason : {"UNHEALTHY", "ADOPTED_TASK", "SUSPENDED_BY_OTHERS"}) {
    if (status.ok()) status = Close(tx, SubjectOf(kSupervisorChanged, stream, reason));
  }
  if (status.ok()) status = Close(tx, SubjectOf(kTailMovedBack, stream, "TAIL_MOVED_BACK"));
  return status;
}

absl::Status ReportOrphans(store::Transaction& tx, const SeenStreams& seen,
                           const Options& options) {
  auto known = LiveTaskRows(tx);
  if (!known.ok()) return known.status();
  const Instant looked = tx.now();
  for (const druid::StreamTask& task : seen.orphans) {
    const auto row = std::find_if(known->begin(), known->end(),
                                  [&](const TaskRow& one) { return one.id == task.id; });
    if (row == known->end() || tx.now() - row->first_seen < options.orphan_after) continue;
    Stream stream;
    stream.datasource = task.datasource;
    stream.name = task.id;
    Finding finding = About(kOrphanStreamTask, "ORPHAN_STREAM_TASK", stream);
    finding.stream = task.stream;
    finding.task_ids = {task.id};
    finding.message =
        absl::StrCat("task ", task.id, " reads ", task.stream, " and has no supervisor, since ",
                     row->first_seen.ToString(),
                     " at least: nobody stops it, and it keeps its locks and its slot");
    finding.remedy = absl::StrCat("POST /druid/indexer/v1/task/", task.id,
                                  "/shutdown, or post its supervisor again");
    absl::Status status = Report(tx, finding).status();
    if (!status.ok()) return status;
  }
  absl::Status status = CloseTold(tx);
  return status.ok() ? CloseUnseen(tx, kOrphanStreamTask, looked) : status;
}

}  // namespace interlock::guard
