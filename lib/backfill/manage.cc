// Backfills: pause, resume, cancel, retry, accept, abandon.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/handover_worker.h"
#include "lib/backfill/leases.h"
#include "lib/work/steps.h"

namespace interlock::backfill {
namespace {

std::string StateJson(const Backfill& backfill) {
  return audit::JsonObject()
      .Text("state", NameOf(backfill.phase))
      .Text("reason", backfill.reason)
      .ToString();
}

// Whether a wish still has something to act upon.
bool IsDone(const Backfill& backfill) { return IsOver(backfill.phase); }

bool Touches(const StoredUnit& unit, const std::vector<Interval>& intervals) {
  if (intervals.empty()) return true;
  for (const Interval& own : unit.unit.intervals) {
    for (const Interval& asked : intervals) {
      if (own.Overlaps(asked)) return true;
    }
  }
  return false;
}

bool InDoubt(const StoredPartition& partition) {
  return partition.state == State::kSuspect || partition.state == State::kUndetermined;
}

// The partition of that interval; or, of an interval that covers several, those in doubt.
absl::StatusOr<std::vector<StoredPartition>> FindDoubtful(store::Transaction& tx,
                                                          const std::string& id,
                                                          const Interval& interval) {
  PartitionFilter filter;
  filter.overlapping = interval;
  auto found = ReadPartitions(tx, id, filter, Instant::kMin, kMaxPartitions);
  if (!found.ok()) return found.status();
  std::vector<StoredPartition> doubtful;
  for (StoredPartition& partition : *found) {
    if (!interval.Contains(partition.partition)) continue;
    const bool named = partition.partition == interval;
    if (named && !InDoubt(partition))
      return NotAcceptable(interval.ToString(), NameOf(partition.state));
    if (InDoubt(partition)) doubtful.push_back(std::move(partition));
  }
  if (doubtful.empty()) return UnknownPartition(id, interval.ToString());
  return doubtful;
}

// An accepted unit's attempt, where it is still open, writes no more on a person's word.
absl::Status SettleAccepted(store::Transaction& tx, const Backfill& backfill,
                            const StoredUnit& unit, const audit::Caller& caller) {
  if (!unit.task_id.empty() && IsOpen(unit.state)) {
    auto attempt = ReadAttempt(tx, unit.task_id);
    if (!attempt.ok()) return attempt.status();
    attempt->state = AttemptState::kAbandoned;
    attempt->settled = tx.now();
    attempt->abandoned_by = caller.identity;
    attempt->abandon_reason = caller.reason;
    absl::Status status = UpdateAttempt(tx, *attempt);
    if (status.ok()) status = UnpinUnit(tx, unit, unit.task_id);
    if (status.ok()) status = LeaveTime(tx, backfill, unit);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AcceptOne(store::Transaction& tx, const Backfill& backfill, StoredPartition partition,
                       const audit::Caller& caller) {
  partition.state = State::kDone;
  partition.message = absl::StrCat("accepted by ", caller.identity, ": ", caller.reason);
  if (!partition.proof) partition.proof.emplace();
  partition.proof->accepted_by = caller.identity;
  partition.proof->accept_reason = caller.reason;
  absl::Status status = UpdatePartition(tx, backfill.id, partition);
  if (!status.ok()) return status;
  return RecordDone(tx, backfill.datasource, partition.partition,
                    {backfill.digest, partition.proof->version, backfill.id});
}

// A unit is done when a person has accepted all of its partitions that were in doubt.
absl::Status CloseAcceptedUnit(store::Transaction& tx, const Backfill& backfill, int64_t number,
                               const audit::Caller& caller) {
  auto unit = ReadUnit(tx, backfill.id, number);
  if (!unit.ok()) return unit.status();
  PartitionFilter filter;
  filter.overlapping = unit->unit.hull();
  auto partitions = ReadPartitions(tx, backfill.id, filter, Instant::kMin, kMaxPartitions);
  if (!partitions.ok()) return partitions.status();
  for (const StoredPartition& partition : *partitions) {
    if (partition.unit == number && !IsGood(partition.state)) return absl::OkStatus();
  }
  absl::Status status = SettleAccepted(tx, backfill, *unit, caller);
  if (!status.ok()) return status;
  unit->state = State::kDone;
  // Only the unit's row: its partitions have their own words by now.
  return tx
      .Execute(
          "UPDATE backfill_unit SET state = :state, open = 0, reason = '', message = ''"
          " WHERE backfill_id = :id AND number = :number",
          {std::string(NameOf(unit->state)), backfill.id, number})
      .status();
}

}  // namespace

absl::Status PutBack(store::Transaction& tx, StoredUnit& unit) {
  unit.state = Next(unit.state, Seen::kRetry).state;
  unit.reason = unit.message = "";
  unit.attempts = 0;
  unit.rows.reset();
  unit.sums.reset();
  unit.unparseable = 0;
  unit.reservation_id = "";
  unit.token = 0;
  unit.due = tx.now();
  return UpdateUnit(tx, unit);
}

absl::StatusOr<Backfill> Backfills::Mutate(const std::string& id, const char* method,
                                           const audit::Caller& caller, const Change& change) {
  if (absl::Status status = CheckCaller(caller); !status.ok()) return status;
  Backfill result;
  absl::Status status = store_.Write([&](store::Transaction& tx) {
    auto backfill = ReadBackfill(tx, id);
    if (!backfill.ok()) return backfill.status();
    const std::string before = StateJson(*backfill);
    absl::Status changed = change(tx, *backfill);
    if (changed.ok()) changed = UpdatePhase(tx, *backfill).status();
    if (changed.ok()) changed = work::Schedule(tx, kWorkKind, id, tx.now());
    if (!changed.ok()) return changed;
    result = *backfill;
    return audit::Record(
        tx, {caller, method, backfill->datasource, id, "OK", before, StateJson(*backfill)});
  });
  if (!status.ok()) return status;
  changes_.Ring();
  if (wake_) wake_();
  return result;
}

absl::StatusOr<Backfill> Backfills::Pause(const std::string& id, const audit::Caller& caller) {
  return Mutate(id, "PauseBackfill", caller, [](store::Transaction& tx, Backfill& backfill) {
    if (IsDone(backfill)) return AlreadyOver(backfill.id, NameOf(backfill.phase));
    if (backfill.pause) return absl::OkStatus();
    backfill.pause = true;
    return SetWishes(tx, backfill);
  });
}

absl::StatusOr<Backfill> Backfills::Resume(const std::string& id, const audit::Caller& caller) {
  return Mutate(id, "ResumeBackfill", caller, [](store::Transaction& tx, Backfill& backfill) {
    if (!backfill.pause) return NotPaused(backfill.id);
    backfill.pause = false;
    absl::Status status = SetWishes(tx, backfill);
    return status.ok() ? BeginHandover(tx, backfill) : status;
  });
}

absl::StatusOr<Backfill> Backfills::Cancel(const std::string& id, const audit::Caller& caller) {
  return Mutate(id, "CancelBackfill", caller, [](store::Transaction& tx, Backfill& backfill) {
    if (IsDone(backfill)) return AlreadyOver(backfill.id, NameOf(backfill.phase));
    if (backfill.cancel) return absl::OkStatus();
    backfill.cancel = true;
    return SetWishes(tx, backfill);
  });
}

absl::StatusOr<Backfills::Retried> Backfills::Retry(const std::string& id,
                                                    const std::vector<State>& states,
                                                    const std::vector<Interval>& intervals,
                                                    const audit::Caller& caller) {
  const std::vector<State> wanted =
      states.empty() ? std::vector<State>{State::kFailed, State::kCancelled} : states;
  int64_t count = 0;
  auto backfill =
      Mutate(id, "RetryBackfill", caller, [&](store::Transaction& tx, Backfill& changed) {
        count = 0;
        if (changed.phase == Phase::kRollingBack) return StillAtWork(id, NameOf(changed.phase));
        auto units = ReadUnits(tx, id, wanted, Instant::kMax, false, kMaxPartitions);
        if (!units.ok()) return units.status();
        for (StoredUnit& unit : *units) {
          if (!IsFinal(unit.state) || unit.state == State::kDone || unit.state == State::kEmpty ||
              !Touches(unit, intervals)) {
            continue;
          }
          absl::Status status = PutBack(tx, unit);
          if (!status.ok()) return status;
          ++count;
        }
        if (count == 0) return NothingToRetry(id);
        changed.pause = changed.cancel = changed.totals_judged = false;
        changed.deadline.reset();  // it was the first run's
        absl::Status status = UpdateBackfill(tx, changed);
        if (status.ok()) status = SetWishes(tx, changed);
        return status.ok() ? BeginHandover(tx, changed) : status;
      });
  if (!backfill.ok()) return backfill.status();
  return Retried{*std::move(backfill), count};
}

absl::StatusOr<Backfill> Backfills::Accept(const std::string& id,
                                           const std::vector<Interval>& partitions,
                                           const audit::Caller& caller) {
  if (caller.reason.empty()) return ReasonRequired("to accept what is not proven");
  return Mutate(id, "AcceptPartitions", caller, [&](store::Transaction& tx, Backfill& backfill) {
    std::set<int64_t> units;
    for (const Interval& interval : partitions) {
      auto doubtful = FindDoubtful(tx, id, interval);
      if (!doubtful.ok()) return doubtful.status();
      for (const StoredPartition& partition : *doubtful) {
        absl::Status status = AcceptOne(tx, backfill, partition, caller);
        if (!status.ok()) return status;
        units.insert(partition.unit);
      }
    }
    for (const int64_t unit : units) {
      absl::Status status = CloseAcceptedUnit(tx, backfill, unit, caller);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Backfill> Backfills::Abandon(const std::string& id, const std::string& task_id,
                                            const audit::Caller& caller) {
  if (caller.reason.empty()) return ReasonRequired("to declare an attempt over without proof");
  return Mutate(id, "AbandonAttempt", caller, [&](store::Transaction& tx, Backfill& backfill) {
    auto attempt = ReadAttempt(tx, task_id);
    if (!attempt.ok() || attempt->backfill_id != id) return UnknownAttempt(task_id);
    auto unit = ReadUnit(tx, id, attempt->unit);
    if (!unit.ok()) return unit.status();
    if (unit->task_id != task_id || !IsOpen(unit->state)) return AttemptSettled(task_id);
    attempt->state = AttemptState::kAbandoned;
    attempt->settled = tx.now();
    attempt->abandoned_by = caller.identity;
    attempt->abandon_reason = caller.reason;
    absl::Status status = UpdateAttempt(tx, *attempt);
    if (status.ok()) status = UnpinUnit(tx, *unit, task_id);
    unit->state = Next(unit->state, Seen::kAbandon).state;
    unit->reason = "ABANDONED";
    unit->message = absl::StrCat("attempt ", task_id, " was abandoned by ", caller.identity, ": ",
                                 caller.reason);
    unit->due = tx.now();
    if (status.ok()) status = UpdateUnit(tx, *unit);
    (void)backfill;
    return status;
  });
}

}  // namespace interlock::backfill
