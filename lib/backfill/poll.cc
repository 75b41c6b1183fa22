// Tasks that wait or run: one request for all of them.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/pass.h"

namespace interlock::backfill {
namespace {

// A task this young is polled at the short interval.
constexpr absl::Duration kYoungTask = absl::Seconds(20);
// A shutdown is asked for again when the task still lives after this.
constexpr absl::Duration kShutdownAgain = absl::Seconds(30);
// A task that waits for longer than this is likely to wait for a lock.
constexpr absl::Duration kLongWait = absl::Seconds(10);

AttemptState StateOf(const druid::TaskStatus& status) {
  return status.runner_state == "RUNNING" ? AttemptState::kRunning : AttemptState::kWaiting;
}

}  // namespace

absl::Status Pass::PollRunning(std::vector<StoredUnit>& units) {
  if (units.empty()) return absl::OkStatus();
  running_ = true;
  std::vector<std::pair<StoredUnit*, Attempt>> running;
  std::vector<std::string> ids;
  for (StoredUnit& unit : units) {
    auto attempt = AttemptOf(unit);
    if (!attempt.ok()) return attempt.status();
    recent_ = recent_ || now_ - attempt->intended < kYoungTask;
    ids.push_back(attempt->task_id);
    running.emplace_back(&unit, *std::move(attempt));
  }
  const auto answer = world_.cluster.GetTaskStatuses(ids);
  if (!answer.done()) {
    Away(answer);
    return absl::OkStatus();  // they stay as they are
  }
  absl::Status status = LookForLocks(running);
  for (auto& [unit, attempt] : running) {
    if (!status.ok() || druid_away_) return status;
    const auto it = answer.value().find(attempt.task_id);
    status = PollOne(*unit, attempt, it == answer.value().end() ? nullptr : &it->second,
                     answer.druid_time());
  }
  return status;
}

absl::Status Pass::PollOne(StoredUnit& unit, Attempt& attempt, const druid::TaskStatus* status,
                           std::optional<Instant> druid_time) {
  druid::TaskStatus asked;
  if (status == nullptr) {
    // Left out of the map: ask for it alone before it is believed.
    const auto answer = world_.cluster.GetTaskStatus(attempt.task_id);
    if (answer.not_found()) {
      return Move(unit, {Seen::kGone, "TASK_FORGOTTEN", answer.text(), {}},
                  [&](store::Transaction& tx) {
                    attempt.state = AttemptState::kEnded;
                    attempt.ended = tx.now();
                    return UpdateAttempt(tx, attempt);
                  });
    }
    if (!answer.done()) {
      Away(answer);
      return absl::OkStatus();
    }
    asked = answer.value();
    status = &asked;
  }
  if (!status->terminal()) return SeeItLive(unit, attempt, *status);
  return Move(unit, {Seen::kEnded, "", "", {}}, [&](store::Transaction& tx) {
    attempt.state = AttemptState::kEnded;
    attempt.ended = tx.now();
    attempt.druid_status = status->state == druid::TaskState::kSuccess ? "SUCCESS" : "FAILED";
    attempt.druid_error = status->error;
    attempt.druid_ended = druid_time.value_or(tx.now());
    return UpdateAttempt(tx, attempt);
  });
}

absl::Status Pass::SeeItLive(StoredUnit& unit, Attempt& attempt, const druid::TaskStatus& status) {
  if (status.state == druid::TaskState::kUnknown) return absl::OkStatus();
  const AttemptState state = StateOf(status);
  const bool runs = state == AttemptState::kRunning;
  const Instant posted = attempt.posted.value_or(attempt.intended);
  const std::string reason = !runs && now_ - posted > kLongWait ? "WAITING_FOR_SLOT_OR_LOCK" : "";
  if (state != attempt.state || (runs && !attempt.running) || reason != unit.reason) {
    absl::Status moved = Move(unit, {Seen::kLives, reason, "", {}}, [&](store::Transaction& tx) {
      attempt.state = state;
      if (runs && !attempt.running) attempt.running = tx.now();
      return UpdateAttempt(tx, attempt);
    });
    if (!moved.ok()) return moved;
  }
  if (backfill_.cancel) return Shutdown(unit, attempt, {Seen::kCancel, "CANCELLED", "", {}});
  const bool waits_too_long = !attempt.running && now_ - posted > backfill_.waiting_deadline;
  const bool runs_too_long = attempt.running && now_ - *attempt.running > backfill_.run_deadline;
  if (!waits_too_long && !runs_too_long) return absl::OkStatus();
  return Shutdown(unit, attempt,
                  {Seen::kOverdue, runs_too_long ? "RAN_TOO_LONG" : "WAITED_TOO_LONG", "", {}});
}

// "Asked" is not "gone": it is polled until Druid says that it is over.
absl::Status Pass::Shutdown(StoredUnit& unit, Attempt& attempt, const Sight& why) {
  if (attempt.shutdown_asked && now_ - *attempt.shutdown_asked < kShutdownAgain) {
    return absl::OkStatus();
  }
  auto may = MayCall(/*needs_lease=*/false);
  if (!may.ok() || !*may) return may.status();
  absl::Status status = Move(unit, why, [&](store::Transaction& tx) {
    attempt.shutdown_asked = tx.now();
    return UpdateAttempt(tx, attempt);
  });
  if (!status.ok()) return status;
  const auto answer = world_.cluster.ShutdownTask(attempt.task_id);
  if (answer.unknown()) Away(answer);
  return absl::OkStatus();
}

// The version of a lock is the version of what its task will write: seen once, nothing
// has to be told from times. One request for all units.
absl::Status Pass::LookForLocks(std::vector<std::pair<StoredUnit*, Attempt>>& running) {
  std::vector<Interval> wanted;
  for (const auto& [unit, attempt] : running) {
    if (!attempt.locks.empty()) continue;
    wanted.insert(wanted.end(), unit->unit.intervals.begin(), unit->unit.intervals.end());
  }
  if (wanted.empty()) return absl::OkStatus();
  const auto locks = world_.cluster.ListLocks(backfill_.datasource, wanted);
  if (!locks.done()) return absl::OkStatus();  // a help, not a need
  for (auto& [unit, attempt] : running) {
    if (!attempt.locks.empty()) continue;
    for (const druid::TaskLock& lock : locks.value()) {
      if (lock.group_id != attempt.task_id || lock.revoked || lock.version.empty()) continue;
      attempt.locks.emplace_back(lock.interval, lock.version);
    }
    if (attempt.locks.empty()) continue;
    const Attempt& seen = attempt;
    absl::Status status = Write([&](store::Transaction& tx) { return UpdateAttempt(tx, seen); });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace interlock::backfill
