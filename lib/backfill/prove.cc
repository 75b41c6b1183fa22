// What a task's effect was: read from Druid, judged, and stored with the proof.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/known_changes.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/pass.h"
#include "lib/druid/appends.h"
#include "lib/guard/late_rows.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

// Where Druid has forgotten when a task was made: how far our clocks may be apart.
constexpr absl::Duration kClockSlack = absl::Minutes(1);

constexpr absl::Duration kRarestLook = absl::Minutes(10);

Interval Around(const Unit& unit, const std::vector<Interval>& neighbours) {
  Instant start = unit.intervals.front().start();
  Instant end = unit.intervals.back().end();
  for (const Interval& interval : neighbours) {
    start = std::min(start, interval.start());
    end = std::max(end, interval.end());
  }
  return *Interval::Of(start, end);
}

}  // namespace

// Another's lock on the unit's time, now that ours is gone: its task may have published
// before or after ours, and holds the lock to its own end. Where our lock was seen, whose
// version it is does not depend on that.
absl::StatusOr<Pass::Sight> Pass::LookForOthers(const StoredUnit& unit, Attempt& attempt,
                                                bool patient) {
  const Sight clear{Seen::kClear, "", "", {}};
  if (attempt.others_seen || !attempt.locks.empty()) return clear;
  const auto locks = world_.cluster.ListLocks(attempt.datasource, unit.unit.intervals);
  if (!locks.done()) return Away(locks);
  for (const druid::TaskLock& lock : locks.value()) {
    if (lock.group_id == attempt.task_id || !LockBlocks(lock) || druid::Appends(lock)) {
      continue;
    }
    // Where only intervals are told, it may be our own that lingers.
    if (lock.group_id.empty() && patient) {
      return Sight{Seen::kNotYet, "LOCK_LINGERS", DescribeLock(lock), options_.look_every};
    }
    attempt.others_seen = true;
  }
  return clear;
}

// What our own ledger knows to have changed next door: attempts, and whoever holds, or
// held, a reservation there.
absl::Status Pass::ReadKnown(const StoredUnit& unit, const Attempt& attempt, Evidence* evidence) {
  const Interval around = Around(unit.unit, attempt.before.neighbours);
  return world_.store.Read([&](store::Transaction& tx) -> absl::Status {
    auto known = KnownChanges(tx, attempt, around, attempt.before.taken);
    if (!known.ok()) return known.status();
    auto totals = SumUnits(tx, backfill_.id);
    if (!totals.ok()) return totals.status();
    evidence->known = *std::move(known);
    evidence->unparseable_before = totals->unparseable;
    return absl::OkStatus();
  });
}

Pass::Sight Pass::Gather(const StoredUnit& unit, Attempt& attempt, Evidence* evidence) {
  if (!attempt.druid_created) {
    const auto status = world_.cluster.GetTaskStatus(attempt.task_id);
    if (status.unknown() || status.refused()) return Away(status);
    attempt.druid_created = status.done() && status.value().created
                                ? *status.value().created
                                : attempt.intended - kClockSlack;
    if (!attempt.druid_ended) attempt.druid_ended = status.druid_time().value_or(now_);
  }
  const auto report = world_.cluster.GetTaskReport(attempt.task_id);
  if (report.unknown()) return Away(report);
  if (report.done()) {
    evidence->report = report.value();
    attempt.rows = RowsIn(report.value());
  }
  druid::ObserveRequest request;
  request.datasource = backfill_.datasource;
  request.interval = unit.unit.hull();
  request.surroundings = Around(unit.unit, attempt.before.neighbours);
  request.partitions = SummedIn(unit.unit, backfill_.terms);
  request.metrics = MetricsOf(backfill_.terms);
  // The first look has the coordinator poll; later ones only wait (apache/druid#9965).
  request.refresh = unit.reason != "NOT_LOADED";
  auto snapshot = druid::Observe(world_.cluster, request, world_.store.Now());
  if (!snapshot.done()) return Away(snapshot);
  evidence->after = std::move(snapshot.value());
  if (!backfill_.terms.same_as.empty()) {
    evidence->twin = ReadTwin(world_.cluster, backfill_.terms, unit.unit);
  }
  return {Seen::kClear, "", "", {}};
}

absl::Status Pass::Prove(StoredUnit& unit) {
  auto attempt = AttemptOf(unit);
  if (!attempt.ok()) return attempt.status();
  Evidence evidence;
  const Instant looked = world_.store.Now();
  absl::StatusOr<Sight> gathered = Gather(unit, *attempt, &evidence);
  const absl::Duration since = looked - attempt->ended.value_or(attempt->intended);
  if (gathered->seen == Seen::kClear) {
    gathered = LookForOthers(unit, *attempt, since < options_.row_patience);
  }
  if (!gathered.ok()) return gathered.status();
  if (gathered->seen != Seen::kClear) {
    return Move(unit, {Seen::kNotYet, gathered->reason, gathered->message, gathered->again});
  }
  if (absl::Status status = ReadKnown(unit, *attempt, &evidence); !status.ok()) return status;
  evidence.unit = unit.unit;
  evidence.before = attempt->before;
  evidence.task_id = attempt->task_id;
  evidence.succeeded = attempt->druid_status == "SUCCESS";
  evidence.created = *attempt->druid_created;
  evidence.ended = attempt->druid_ended.value_or(now_);
  evidence.locks = attempt->locks;
  evidence.others_seen = attempt->others_seen;
  evidence.terms = backfill_.terms;
  evidence.level = backfill_.level;
  evidence.now = looked;
  evidence.settled = since >= options_.settle_time;
  evidence.rows_settled = since >= options_.row_patience;
  UnitJudgement judged = JudgeUnit(evidence);
  if (judged.seen == Seen::kProven || judged.seen == Seen::kProvenEmpty ||
      judged.seen == Seen::kWrong) {
    const auto sources = CompareSources(*attempt);
    if (!sources.ok()) return sources.status();
    if (sources->seen == Seen::kNotYet) return Move(unit, *sources);
    if (sources->seen == Seen::kNoEffect) {
      judged.seen = sources->seen;
      judged.reason = sources->reason;
      judged.message = sources->message;
    }
  }
  return StoreJudgement(unit, *attempt, judged, since);
}

absl::Status Pass::StoreJudgement(StoredUnit& unit, Attempt& attempt, const UnitJudgement& judged,
                                  absl::Duration since) {
  Sight sight{judged.seen, judged.reason, judged.message, options_.look_every};
  if (judged.seen == Seen::kCantTell) {
    // The longer it could not be told, the rarer it is looked at.
    sight.again = std::clamp(since / 8, options_.slow_look, kRarestLook);
  }
  if (judged.seen == Seen::kNotYet && judged.reason == kNotRetired) {
    sight.again = options_.slow_look;
  }
  const bool settles = Next(unit.state, judged.seen).action == Action::kSettle;
  if (settles) sight.again = absl::ZeroDuration();
  if (judged.seen == Seen::kNoEffect && !attempt.druid_error.empty()) {
    sight.message = absl::StrCat(judged.message, "; Druid said: ", attempt.druid_error);
  }
  unit.unparseable = settles && attempt.rows ? attempt.rows->unparseable : 0;
  unit.thrown_away = settles && attempt.rows ? attempt.rows->thrown_away : 0;
  const bool counted = settles && judged.seen != Seen::kNoEffect;
  unit.rows = counted ? judged.rows : std::nullopt;
  unit.sums = counted ? judged.sums : std::nullopt;
  if (judged.seen == Seen::kProvenEmpty) unit.rows = 0;
  attempt.neighbours_after = judged.neighbours_after;
  absl::Status moved = Move(unit, sight, [&](store::Transaction& tx) -> absl::Status {
    if (settles) {
      attempt.state = AttemptState::kSettled;
      attempt.settled = tx.now();
      absl::Status status = UnpinUnit(tx, unit, attempt.task_id);
      if (!status.ok()) return status;
    }
    absl::Status status = UpdateAttempt(tx, attempt);
    const bool told = judged.seen == Seen::kProven || judged.seen == Seen::kProvenEmpty ||
                      judged.seen == Seen::kWrong || judged.seen == Seen::kCantTell;
    for (size_t i = 0; status.ok() && told && i < judged.partitions.size(); ++i) {
      status = StorePartition(tx, unit, judged.partitions[i]);
    }
    return status;
  });
  if (moved.ok()) TellProven(unit, attempt, judged);
  return moved;
}

void Pass::TellProven(const StoredUnit& unit, const Attempt& attempt,
                      const UnitJudgement& judged) const {
  if (!world_.on_proven || !attempt.settled) return;
  if (unit.state != State::kDone && unit.state != State::kEmpty) return;
  for (size_t i = 0; i < judged.partitions.size(); ++i) {
    world_.on_proven(*attempt.settled - attempt.intended);
  }
}

absl::Status Pass::StorePartition(store::Transaction& tx, const StoredUnit& unit,
                                  const PartitionJudgement& judged) {
  StoredPartition partition;
  partition.partition = judged.partition;
  partition.unit = unit.number;
  partition.state = judged.state;
  partition.reason = judged.reason;
  partition.message = judged.message;
  partition.proof = judged.proof;
  partition.findings = judged.findings;
  absl::Status status = UpdatePartition(tx, backfill_.id, partition);
  if (!status.ok() || (!IsGood(judged.state) && judged.state != State::kSuspect)) return status;
  // Where streams write, rows may come to it yet.
  guard::Proven proven;
  proven.datasource = backfill_.datasource;
  proven.interval = judged.partition;
  proven.version = judged.proof.version;
  proven.segments = judged.proof.segment_ids;
  proven.backfill_id = backfill_.id;
  proven.at = tx.now();
  if (!proven.version.empty()) status = guard::WatchProven(tx, proven, options_.guard);
  if (!status.ok() || !IsGood(judged.state)) return status;
  return RecordDone(tx, backfill_.datasource, judged.partition,
                    {backfill_.digest, judged.proof.version, backfill_.id});
}

}  // namespace interlock::backfill
