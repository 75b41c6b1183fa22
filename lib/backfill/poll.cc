// Tasks that wait or run: one request for all of them.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/pass.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

// A task this young is polled at the short interval.
constexpr absl::Duration kYoungTask = absl::Seconds(20);
// A shutdown is asked for again when the task still lives after this.
constexpr absl::Duration kShutdownAgain = absl::Seconds(30);
// A task that waits for longer than this is likely to wait for a lock.
constexpr absl::Duration kLongWait = absl::Seconds(10);

// A task that is this old and was not seen to run is asked about by itself.
constexpr absl::Duration kAskAfter = absl::Seconds(2);

// The batched status does not say whether a task waits or runs.
std::optional<AttemptState> StateOf(const druid::TaskStatus& status) {
  if (status.runner_state == "RUNNING") return AttemptState::kRunning;
  if (status.runner_state == "WAITING" || status.runner_state == "PENDING") {
    return AttemptState::kWaiting;
  }
  return std::nullopt;
}

Instant PostedAt(const Attempt& attempt) { return attempt.posted.value_or(attempt.intended); }

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
  const Attempt* asked = ToAskAbout(running);
  absl::Status status = LookForLocks(running);
  for (auto& [unit, attempt] : running) {
    if (!status.ok() || druid_away_) return status;
    const auto it = answer.value().find(attempt.task_id);
    // What is left out of the map is asked for by itself before that is believed.
    const bool alone = it == answer.value().end() || &attempt == asked;
    status = PollOne(*unit, attempt, alone ? nullptr : &it->second, answer.druid_time());
  }
  return status;
}

// One of those that were not seen to run yet, another each second: one request more a
// pass, however many there are. Past its deadline each is asked about before it is shut
// down.
const Attempt* Pass::ToAskAbout(const std::vector<std::pair<StoredUnit*, Attempt>>& running) {
  std::vector<const Attempt*> unsure;
  for (const auto& [unit, attempt] : running) {
    if (!attempt.running && now_ - PostedAt(attempt) > kAskAfter) unsure.push_back(&attempt);
  }
  if (unsure.empty()) return nullptr;
  return unsure[static_cast<size_t>(now_.millis() / 1000) % unsure.size()];
}

absl::Status Pass::PollOne(StoredUnit& unit, Attempt& attempt, const druid::TaskStatus* status,
                           std::optional<Instant> druid_time) {
  druid::TaskStatus asked;
  const bool alone = status == nullptr;
  if (alone) {
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
    druid_time = answer.druid_time();
  }
  if (!status->terminal()) return SeeItLive(unit, attempt, *status, alone);
  return Move(unit, {Seen::kEnded, "", "", {}}, [&](store::Transaction& tx) {
    attempt.state = AttemptState::kEnded;
    attempt.ended = tx.now();
    attempt.druid_status = status->state == druid::TaskState::kSuccess ? "SUCCESS" : "FAILED";
    // Why we had it shut down says more than that it was.
    attempt.druid_error = attempt.shutdown_asked && !attempt.druid_error.empty()
                              ? absl::StrCat(status->error, " (", attempt.druid_error, ")")
                              : status->error;
    attempt.druid_ended = druid_time.value_or(tx.now());
    return UpdateAttempt(tx, attempt);
  });
}

absl::Status Pass::SeeItLive(StoredUnit& unit, Attempt& attempt, const druid::TaskStatus& status,
                             bool alone) {
  if (status.state == druid::TaskState::kUnknown) return absl::OkStatus();
  if (const std::optional<AttemptState> state = StateOf(status)) {
    if (absl::Status moved = NoteState(unit, attempt, *state); !moved.ok()) return moved;
  }
  if (must_end_) {
    return Shutdown(unit, attempt,
                    {Seen::kOverdue,
                     handover_.reason.empty() ? "PAUSE_OVER" : handover_.reason,
                     "the handover is over",
                     {}});
  }
  if (preempted_.count(attempt.task_id) > 0) {
    return Shutdown(unit, attempt,
                    {Seen::kOverdue, "PREEMPTED", "a stream took the task's lock away", {}});
  }
  if (backfill_.cancel) return Shutdown(unit, attempt, {Seen::kCancel, "CANCELLED", "", {}});
  if (attempt.running) {
    if (now_ - *attempt.running <= backfill_.run_deadline) return absl::OkStatus();
    return Shutdown(unit, attempt, {Seen::kOverdue, "RAN_TOO_LONG", "", {}});
  }
  if (now_ - PostedAt(attempt) <= backfill_.waiting_deadline) return absl::OkStatus();
  if (!StateOf(status)) {
    return alone ? absl::OkStatus() : PollOne(unit, attempt, nullptr, std::nullopt);
  }
  const auto holder = waits_for_.find(attempt.task_id);
  return Shutdown(
      unit, attempt,
      {Seen::kOverdue,
       "WAITED_TOO_LONG",
       holder == waits_for_.end() ? "" : absl::StrCat(holder->second, "; ", kOfferHandover),
       {}});
}

absl::Status Pass::NoteState(StoredUnit& unit, Attempt& attempt, AttemptState state) {
  const bool runs = state == AttemptState::kRunning;
  const std::string reason = !runs && WaitsLong(attempt) ? "WAITING_FOR_SLOT_OR_LOCK" : "";
  const auto holder = waits_for_.find(attempt.task_id);
  const std::string message = runs || holder == waits_for_.end() ? "" : holder->second;
  if (state == attempt.state && runs == attempt.running.has_value() && reason == unit.reason &&
      message == unit.message) {
    return absl::OkStatus();
  }
  Sight sight{Seen::kLives, reason, message, {}};
  const auto behind = waits_behind_.find(attempt.task_id);
  if (!message.empty() && behind != waits_behind_.end()) sight.blockers.push_back(behind->second);
  return Move(unit, sight, [&](store::Transaction& tx) {
    attempt.state = state;
    if (runs && !attempt.running) attempt.running = tx.now();
    return UpdateAttempt(tx, attempt);
  });
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
    attempt.druid_error = why.message;
    return UpdateAttempt(tx, attempt);
  });
  if (!status.ok()) return status;
  const auto answer = world_.cluster.ShutdownTask(attempt.task_id);
  if (answer.unknown()) Away(answer);
  return absl::OkStatus();
}

bool Pass::WaitsLong(const Attempt& attempt) const {
  return !attempt.running && now_ - PostedAt(attempt) > kLongWait;
}

void Pass::NoteOthersLocks(const StoredUnit& unit, const Attempt& attempt,
                           const std::vector<druid::TaskLock>& locks) {
  for (const druid::TaskLock& lock : locks) {
    const bool own = lock.group_id == attempt.task_id;
    if (own && lock.revoked) preempted_.insert(attempt.task_id);
    if (own || !LockBlocks(lock) || Intersect({lock.interval}, unit.unit.intervals).empty()) {
      continue;
    }
    waits_for_[attempt.task_id] =
        absl::StrCat(DescribeLock(lock), "; waited for since ", PostedAt(attempt).ToString());
    Obstacle obstacle = ObstacleOf(lock);
    obstacle.since = PostedAt(attempt);
    waits_behind_[attempt.task_id] = std::move(obstacle);
  }
}

// The version of a lock is the version of what its task will write: seen once, nothing
// has to be told from times. One request for all units.
absl::Status Pass::LookForLocks(std::vector<std::pair<StoredUnit*, Attempt>>& running) {
  std::vector<Interval> wanted;
  for (const auto& [unit, attempt] : running) {
    if (!attempt.locks.empty() && !WaitsLong(attempt)) continue;
    wanted.insert(wanted.end(), unit->unit.intervals.begin(), unit->unit.intervals.end());
  }
  if (wanted.empty()) return absl::OkStatus();
  const auto locks = world_.cluster.ListLocks(backfill_.datasource, wanted);
  if (!locks.done()) return absl::OkStatus();  // a help, not a need
  for (auto& [unit, attempt] : running) {
    if (WaitsLong(attempt)) NoteOthersLocks(*unit, attempt, locks.value());
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
