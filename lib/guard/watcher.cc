#include "lib/guard/watcher.h"

#include <utility>
#include <vector>

#include "lib/guard/late_rows.h"
#include "lib/guard/observe.h"

namespace interlock::guard {

absl::Status Watcher::Begin(store::Transaction& tx) {
  return work::Schedule(tx, kWorkKind, kWorkKey, tx.now());
}

absl::StatusOr<work::Outcome> Watcher::Step(work::Claim& claim) {
  const auto seen = look_.Look(store_.Now());
  absl::Status status;
  if (seen.done()) {
    status = Observe(seen.value(), claim);
  } else {
    status = store_.Write([&](store::Transaction& tx) {
      absl::Status held = work::CheckClaim(tx, claim);
      return held.ok() ? MarkStale(tx, options_) : held;
    });
  }
  if (!status.ok()) return status;
  return work::Outcome::NextDue(store_.Now() + options_.poll_every);
}

absl::Status Watcher::Observe(const SeenStreams& seen, const work::Claim& claim) {
  absl::Status status = CountRows(seen);
  if (!status.ok()) return status;
  std::map<SeenKey, Health> healths = AskHealth(seen);
  status = store_.Write([&](store::Transaction& tx) -> absl::Status {
    absl::Status held = work::CheckClaim(tx, claim);
    if (!held.ok()) return held;
    std::map<SeenKey, Health> counted = healths;
    for (auto& [key, health] : counted) {
      auto counts = SumCounts(tx, key.first, key.second);
      if (!counts.ok()) return counts.status();
      health.thrown_away = counts->thrown_away;
      health.unparseable = counts->unparseable + counts->processed_with_error;
      health.observed = tx.now();
    }
    return ObserveAll(tx, seen, counted, options_);
  });
  return status.ok() ? LookForLateRows(store_, cluster_, options_) : status;
}

std::map<SeenKey, Health> Watcher::AskHealth(const SeenStreams& seen) {
  std::map<SeenKey, Health> healths;
  for (const auto& [key, one] : seen.streams) {
    if (!one.supervisor) continue;
    Health health;
    health.state = one.supervisor->detailed_state.empty() ? one.supervisor->state
                                                          : one.supervisor->detailed_state;
    health.suspended = one.supervisor->suspended;
    health.healthy = one.supervisor->healthy;
    for (const druid::StreamTask& task : one.tasks) health.task_ids.push_back(task.id);
    const auto told = cluster_.GetSupervisorHealth(key.second);
    if (told.done()) {
      health.lag = told.value().lag;
      health.recent_errors = told.value().recent_errors;
    }
    healths[key] = std::move(health);
  }
  return healths;
}

// A report is there when the task is over, or never (an indexer that was killed).
TaskRow Watcher::LastWord(TaskRow row) {
  const auto status = cluster_.GetTaskStatus(row.id);
  if (status.done() && !status.value().terminal()) return row;
  if (!status.done() && !status.not_found()) return row;
  row.ended = store_.Now();
  row.failed = status.done() && status.value().state == druid::TaskState::kFailed;
  const auto report = cluster_.GetTaskReport(row.id);
  if (report.done() && report.value().has_row_stats) {
    row.counts.processed = report.value().processed;
    row.counts.thrown_away = report.value().thrown_away;
    row.counts.unparseable = report.value().unparseable;
  }
  return row;
}

absl::Status Watcher::CountRows(const SeenStreams& seen) {
  std::map<std::string, TaskRow> rows;
  absl::Status status = store_.Read([&](store::Transaction& tx) -> absl::Status {
    auto live = LiveTaskRows(tx);
    if (!live.ok()) return live.status();
    rows.clear();
    for (TaskRow& row : *live) rows[row.id] = std::move(row);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  std::map<std::string, TaskRow> now;
  for (const auto& [key, one] : seen.streams) {
    std::map<std::string, druid::StreamCounts> counts;
    if (one.supervisor && !one.tasks.empty()) {
      const auto told = cluster_.GetSupervisorCounts(key.second);
      if (told.done()) counts = told.value();
    }
    for (const druid::StreamTask& task : one.tasks) {
      TaskRow row = rows.count(task.id) > 0
                        ? rows[task.id]
                        : TaskRow{task.id, key.first, key.second, {}, store_.Now(), {}, false};
      if (counts.count(task.id) > 0) row.counts = counts[task.id];
      now[task.id] = std::move(row);
    }
  }
  for (auto& [id, row] : rows) {
    if (now.count(id) == 0) now[id] = LastWord(std::move(row));
  }
  return store_.Write([&](store::Transaction& tx) -> absl::Status {
    for (const auto& [id, row] : now) {
      absl::Status put = PutTaskRow(tx, row);
      if (!put.ok()) return put;
    }
    return absl::OkStatus();
  });
}

}  // namespace interlock::guard
