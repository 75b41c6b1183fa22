#include "lib/backfill/pass.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/handover_rows.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/retire_worker.h"
#include "lib/backfill/tail_terms.h"
#include "lib/lease/reservations.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {
namespace {

// How often it is looked whether a slot of another backfill has become free.
constexpr absl::Duration kSlotLook = absl::Seconds(1);
// Units that one pass starts, or finds blocked, at most.
constexpr int64_t kMostStarted = 64;

constexpr char kMovedMeanwhile[] = "UNIT_MOVED";

}  // namespace

Interval Pass::Hull(const std::vector<Interval>& intervals) const {
  return *Interval::Of(intervals.front().start(), intervals.back().end());
}

absl::Status Pass::Write(const Body& body) {
  absl::Status status = world_.store.Write([&](store::Transaction& tx) {
    absl::Status held = work::CheckClaim(tx, claim_);
    return held.ok() ? body(tx) : held;
  });
  if (status.ok()) world_.changes.Ring();
  return status;
}

absl::StatusOr<std::vector<StoredUnit>> Pass::Units(const std::vector<State>& states, Instant due,
                                                    int64_t most) {
  std::vector<StoredUnit> units;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) {
    auto read = ReadUnits(tx, backfill_.id, states, due, backfill_.newest_first, most);
    if (read.ok()) units = std::move(*read);
    return read.status();
  });
  if (!status.ok()) return status;
  return units;
}

absl::StatusOr<Attempt> Pass::AttemptOf(const StoredUnit& unit) {
  Attempt attempt;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) {
    auto read = ReadAttempt(tx, unit.task_id);
    if (read.ok()) attempt = std::move(*read);
    return read.status();
  });
  if (!status.ok()) return status;
  return attempt;
}

absl::Status Pass::Move(StoredUnit& unit, const Sight& sight, const Body& more) {
  const StoredUnit before = unit;
  const Step step = Next(unit.state, sight.seen);
  absl::Status status = Write([&](store::Transaction& tx) -> absl::Status {
    auto now = ReadUnit(tx, backfill_.id, unit.number);
    if (!now.ok()) return now.status();
    if (now->state != before.state || now->task_id != before.task_id) {
      return WithReason(absl::AbortedError("the unit was moved meanwhile"), kMovedMeanwhile);
    }
    StoredUnit after = unit;
    after.state = step.state;
    after.reason = sight.reason;
    after.message = sight.message;
    after.due = tx.now() + sight.again;
    after.blockers = sight.blockers;
    absl::Status stored = UpdateUnit(tx, after);
    if (stored.ok() && more) stored = more(tx);
    // Once it is over, others may have its time.
    if (stored.ok() && IsFinal(after.state)) stored = LeaveTime(tx, backfill_, after);
    auto backfill = ReadBackfill(tx, backfill_.id);
    if (!stored.ok() || !backfill.ok()) return stored.ok() ? backfill.status() : stored;
    backfill_ = *std::move(backfill);
    return UpdatePhase(tx, backfill_).status();
  });
  if (ReasonOf(status) == kMovedMeanwhile) return absl::OkStatus();
  if (!status.ok()) return status;
  unit.state = step.state;
  unit.reason = sight.reason;
  unit.message = sight.message;
  return absl::OkStatus();
}

bool Pass::IsLate() const {
  return backfill_.deadline && now_ >= *backfill_.deadline && !backfill_.cancel &&
         !IsOver(backfill_.phase);
}

absl::Status Pass::Begin() {
  return Write([&](store::Transaction& tx) -> absl::Status {
    auto backfill = ReadBackfill(tx, claim_.key);
    if (!backfill.ok()) return backfill.status();
    backfill_ = *std::move(backfill);
    now_ = tx.now();
    auto tails = ReadTailTerms(tx, claim_.key);
    auto handover = ReadHandover(tx, claim_.key);
    if (!tails.ok() || !handover.ok()) return tails.ok() ? handover.status() : tails.status();
    tails_ = *tails;
    handover_ = handover->value_or(Handover());
    must_end_ = *handover && MustEnd(handover_, now_);
    absl::Status status = KeepTime(tx, backfill_, options_);
    if (status.ok() && IsLate()) {
      backfill_.cancel = true;
      status = SetWishes(tx, backfill_);
    }
    auto idle = UpdatePhase(tx, backfill_);
    if (!status.ok() || !idle.ok()) return status.ok() ? idle.status() : status;
    finished_ = *idle;
    return *idle ? Finish(tx) : absl::OkStatus();
  });
}

// What it replaced can go once it can no longer be rolled back.
absl::Status Pass::Finish(store::Transaction& tx) {
  if (options_.retire && backfill_.phase == Phase::kDone && backfill_.ended) {
    absl::Status status =
        work::Schedule(tx, kRetireWorkKind, backfill_.id,
                       *backfill_.ended + backfill_.rollback_window + absl::Milliseconds(1));
    if (!status.ok()) return status;
  }
  return work::Finish(tx, claim_);
}

// Units that lost their lease, or were put back, need another.
absl::Status Pass::TakeLeases() {
  auto units = Units({State::kPending}, now_, kMaxPartitions);
  if (!units.ok() || units->empty()) return units.status();
  std::vector<Interval> wanted;
  for (const StoredUnit& unit : *units) {
    wanted.insert(wanted.end(), unit.unit.intervals.begin(), unit.unit.intervals.end());
  }
  wanted = Condense(std::move(wanted));
  return Write([&](store::Transaction& tx) -> absl::Status {
    auto leave = TailLeaveNow(tx, backfill_.id, backfill_.datasource);
    if (!leave.ok()) return leave.status();
    auto held = FindHeldWith(tx, *leave, backfill_.datasource, wanted, kMaxPartitions,
                             options_.lease_limits);
    auto backfill = ReadBackfill(tx, claim_.key);
    if (!held.ok() || !backfill.ok()) return held.ok() ? backfill.status() : held.status();
    absl::Status status = TakeFree(tx, *backfill, *units, *held);
    if (status.ok()) status = UpdateBackfill(tx, *backfill);
    backfill_ = *std::move(backfill);
    return status;
  });
}

absl::Status Pass::TakeFree(store::Transaction& tx, Backfill& backfill,
                            const std::vector<StoredUnit>& units,
                            const std::vector<lease::Held>& held) {
  const auto holder = [&](const StoredUnit& unit) -> const lease::Held* {
    for (const lease::Held& one : held) {
      if (!Intersect(unit.unit.intervals, {one.interval}).empty()) return &one;
    }
    return nullptr;
  };
  std::vector<Interval> free;
  for (const StoredUnit& unit : units) {
    if (holder(unit) != nullptr) continue;
    free.insert(free.end(), unit.unit.intervals.begin(), unit.unit.intervals.end());
  }
  if (!free.empty()) {
    const audit::Caller own{"interlock", "", absl::StrCat("goes on with ", backfill.id)};
    auto grant = TakeTime(tx, backfill, Condense(std::move(free)), options_, own);
    if (!grant.ok()) return grant.status();
  }
  for (StoredUnit unit : units) {
    const lease::Held* other = holder(unit);
    const Seen seen = other == nullptr     ? Seen::kLeased
                      : backfill.skip_held ? Seen::kHeld
                                           : Seen::kBlocked;
    unit.state = Next(unit.state, seen).state;
    unit.reason = other == nullptr ? "" : other->reason.empty() ? "HELD" : other->reason;
    unit.message = other == nullptr ? ""
                   : !other->message.empty()
                       ? other->message
                       : absl::StrCat("held by ", other->holder, " for ", other->purpose);
    unit.blockers.clear();
    if (other != nullptr) unit.blockers.push_back(ObstacleOf(*other));
    if (other != nullptr && other->by == lease::HeldBy::kTail && !handover_.reason.empty()) {
      unit.reason = handover_.reason;
      unit.message = absl::StrCat(handover_.message, "; ", unit.message);
    }
    unit.due = other == nullptr ? tx.now() : tx.now() + options_.blocked_every;
    unit.reservation_id = other == nullptr ? backfill.reservation_id : "";
    unit.token = other == nullptr ? backfill.token : 0;
    absl::Status status = UpdateUnit(tx, unit);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Pass::MoveOpen() {
  auto running = Units({State::kRunning}, Instant::kMax, kMaxPartitions);
  if (!running.ok()) return running.status();
  absl::Status status = PollRunning(*running);
  if (!status.ok()) return status;
  auto units =
      Units({State::kSubmitting, State::kProving, State::kUndetermined}, now_, kMaxPartitions);
  if (!units.ok()) return units.status();
  // What has just ended is proven in this pass.
  for (StoredUnit& unit : *running) {
    if (unit.state == State::kProving) units->push_back(unit);
  }
  for (StoredUnit& unit : *units) {
    if (druid_away_) break;
    status = unit.state == State::kSubmitting ? Settle(unit) : Prove(unit);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Pass::MoveNotApplied() {
  // The handover puts them back: that its pause ended is no attempt that failed.
  if (must_end_) return absl::OkStatus();
  auto units = Units({State::kNotApplied}, now_, kMaxPartitions);
  if (!units.ok()) return units.status();
  for (StoredUnit& unit : *units) {
    const bool left = unit.attempts < backfill_.max_attempts;
    Sight sight{left ? Seen::kAttemptsLeft : Seen::kNoAttemptsLeft, unit.reason, unit.message,
                absl::ZeroDuration()};
    if (!left) sight.reason = absl::StrCat("ATTEMPTS_USED_UP");
    absl::Status status = Move(unit, sight);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Pass::GiveUp() {
  auto units =
      Units({State::kPending, State::kReserved, State::kNotApplied}, Instant::kMax, kMaxPartitions);
  if (!units.ok()) return units.status();
  for (StoredUnit& unit : *units) {
    absl::Status status = Move(unit, {Seen::kCancel, "", "given up on request", {}});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Pass::StartNew() {
  for (int64_t i = 0; i < kMostStarted && !druid_away_; ++i) {
    OpenCounts open;
    absl::Status status = world_.store.Read([&](store::Transaction& tx) {
      auto counted = CountOpen(tx, backfill_.id, backfill_.datasource);
      if (counted.ok()) open = *counted;
      return counted.status();
    });
    if (!status.ok()) return status;
    slots_full_ = open.backfill >= backfill_.max_parallel ||
                  open.datasource >= options_.max_per_datasource || open.all >= options_.max_in_all;
    if (slots_full_) return absl::OkStatus();
    auto units = Units({State::kReserved}, world_.store.Now(), 1);
    if (!units.ok() || units->empty()) return units.status();
    bool started = false;
    status = Start(units->front(), &started);
    if (!status.ok()) return status;
    running_ = recent_ = running_ || started;
  }
  return absl::OkStatus();
}

absl::Status Pass::End() {
  return Write([&](store::Transaction& tx) -> absl::Status {
    auto backfill = ReadBackfill(tx, claim_.key);
    if (!backfill.ok()) return backfill.status();
    backfill_ = *std::move(backfill);
    auto idle = UpdatePhase(tx, backfill_);
    if (!idle.ok()) return idle.status();
    finished_ = *idle;
    if (finished_) return Finish(tx);
    std::vector<State> waiting = {State::kPending, State::kSubmitting, State::kProving,
                                  State::kUndetermined};
    if (!must_end_) waiting.push_back(State::kNotApplied);
    if (!slots_full_ && !backfill_.pause) waiting.push_back(State::kReserved);
    auto due = NextDue(tx, backfill_.id, waiting);
    if (!due.ok()) return due.status();
    next_ = tx.now() + (running_      ? (recent_ ? options_.poll_every : options_.slow_poll)
                        : slots_full_ ? kSlotLook
                                      : options_.slow_look);
    if (*due) next_ = std::min(next_, std::max(**due, tx.now()));
    if (backfill_.deadline && !backfill_.cancel) {
      next_ = std::min(next_, std::max(*backfill_.deadline, tx.now()));
    }
    if (backfill_.renew) next_ = std::min(next_, std::max(*backfill_.renew, tx.now()));
    return absl::OkStatus();
  });
}

absl::Status Pass::Run() {
  absl::Status status = Begin();
  if (!status.ok() || finished_) return status;
  status = MoveOpen();
  if (status.ok() && backfill_.cancel) status = GiveUp();
  if (status.ok() && !backfill_.cancel) status = TakeLeases();
  if (status.ok()) status = MoveNotApplied();
  if (status.ok() && !backfill_.pause && !backfill_.cancel) status = StartNew();
  return status.ok() ? End() : status;
}

}  // namespace interlock::backfill
