// Where the whole backfill stands, told from its units.
#include "absl/strings/str_cat.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/rollback.h"
#include "lib/backfill/state_events.h"
#include "lib/backfill/totals.h"

namespace interlock::backfill {
namespace {

struct Standing {
  Phase phase = Phase::kRunning;
  std::string reason, message;
};

int64_t In(const std::map<State, int64_t>& counts, State state) {
  const auto it = counts.find(state);
  return it == counts.end() ? 0 : it->second;
}

// Something is left for the runner to do by itself.
absl::StatusOr<bool> IsUnfinished(store::Transaction& tx, const std::string& id) {
  return AnyUnitIn(tx, id,
                   {State::kPending, State::kReserved, State::kSubmitting, State::kRunning,
                    State::kProving, State::kNotApplied});
}

Standing AtWork(const Backfill& backfill) {
  if (backfill.cancel) return {Phase::kCancelling, "", "what runs is shut down and proven"};
  if (backfill.pause) return {Phase::kPaused, "", "what runs ends and is proven"};
  if (!backfill.started) return {Phase::kPending, "", ""};
  return {Phase::kRunning, "", ""};
}

// Some of what it did is being taken back, or was.
absl::StatusOr<std::optional<Standing>> RolledBack(store::Transaction& tx, const Backfill& backfill,
                                                   const std::map<State, int64_t>& counts) {
  auto at_work = CountRollbacksAtWork(tx, backfill.id);
  if (!at_work.ok()) return at_work.status();
  if (*at_work > 0) {
    return Standing{Phase::kRollingBack, "",
                    absl::StrCat(*at_work, " partition(s) being brought back")};
  }
  const int64_t back = In(counts, State::kRolledBack);
  const int64_t kept = In(counts, State::kDone) + In(counts, State::kSuspect);
  if (back == 0 || kept > 0) return std::nullopt;
  return Standing{Phase::kRolledBack, "",
                  absl::StrCat("the generation before it is visible again in ", back, " units")};
}

std::string Command(const char* verb, const std::string& id, const char* rest) {
  return absl::StrCat("`interlockctl backfills ", verb, " ", id, rest, "`");
}

// What is in doubt, and each way out of it.
absl::StatusOr<Standing> NeedsAPerson(store::Transaction& tx, const Backfill& backfill,
                                      int64_t suspect, int64_t unclear) {
  auto doubts = ReadDoubts(tx, backfill.id);
  if (!doubts.ok()) return doubts.status();
  const bool one = doubts->size() == 1 && !doubts->front().reason.empty();
  // What a rollback that ended half-way has marked unused can't be rolled back again.
  const bool live = !one || doubts->front().reason != "ROLLBACK_FAILED";
  std::string text;
  if (suspect > 0) {
    absl::StrAppend(
        &text, suspect, " unit(s) SUSPECT: what they wrote is ", live ? "live. " : "used no more. ",
        Command("accept", backfill.id, " PARTITION... --reason TEXT"), " takes it as it is, ",
        live ? absl::StrCat(Command("rollback", backfill.id, " --reason TEXT"),
                            " brings the generation before it back, ")
             : "",
        Command("retry", backfill.id, " --state suspect"), " writes it again");
  }
  if (unclear > 0) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", unclear,
                    " unit(s) UNDETERMINED: looked at again by itself. ",
                    Command("accept", backfill.id, " PARTITION... --reason TEXT"),
                    " takes what is there, ",
                    Command("abandon", backfill.id, " TASK --reason TEXT"),
                    " (an admin) has its attempt count as over, and tries again");
  }
  const std::string why = one ? doubts->front().message : "";
  return Standing{Phase::kNeedsAttention, one ? doubts->front().reason : "UNITS_NOT_PROVEN",
                  absl::StrCat(why, why.empty() ? "" : ". ", text)};
}

absl::StatusOr<Standing> Over(store::Transaction& tx, const Backfill& backfill,
                              const std::map<State, int64_t>& counts, TotalsSeen totals) {
  auto rolled_back = RolledBack(tx, backfill, counts);
  if (!rolled_back.ok()) return rolled_back.status();
  if (*rolled_back) return **rolled_back;
  const int64_t suspect = In(counts, State::kSuspect);
  const int64_t unclear = In(counts, State::kUndetermined);
  if (unclear == 0 && suspect > 0 && backfill.cancel) {
    return Standing{Phase::kCancelled, "",
                    absl::StrCat("given up; ", suspect, " units are SUSPECT and stay as they are: ",
                                 Command("rollback", backfill.id, " --reason TEXT"),
                                 " brings the generation before them back")};
  }
  if (suspect + unclear > 0) return NeedsAPerson(tx, backfill, suspect, unclear);
  if (const int64_t failed = In(counts, State::kFailed); failed > 0) {
    return Standing{Phase::kFailed, "UNITS_FAILED", absl::StrCat(failed, " units have failed")};
  }
  if (const int64_t cancelled = In(counts, State::kCancelled); cancelled > 0) {
    const bool late = backfill.deadline && tx.now() >= *backfill.deadline;
    return Standing{Phase::kCancelled, late ? "DEADLINE_OVER" : "",
                    absl::StrCat(cancelled, " units were given up",
                                 late ? ", as the deadline of the whole was over" : "")};
  }
  if (totals == TotalsSeen::kNotKnown) {
    return Standing{Phase::kDone, "EXPECTATION_NOT_CHECKED",
                    "what is expected over all of it was not checked: the rows of what was skipped "
                    "or accepted are not known"};
  }
  const int64_t skipped = In(counts, State::kSkipped);
  return Standing{
      Phase::kDone, "",
      skipped == 0 ? "" : absl::StrCat(skipped, " units SKIPPED: their partitions say why")};
}

}  // namespace

absl::StatusOr<bool> UpdatePhase(store::Transaction& tx, Backfill& backfill) {
  // Asked after each move of each unit: counted only once none is left at work.
  auto unfinished = IsUnfinished(tx, backfill.id);
  if (!unfinished.ok()) return unfinished.status();
  bool idle = false;
  absl::StatusOr<Standing> told = AtWork(backfill);
  if (!*unfinished) {
    auto counts = CountUnits(tx, backfill.id);
    if (!counts.ok()) return counts.status();
    auto totals = JudgeTotals(tx, backfill, *counts);
    if (!totals.ok()) return totals.status();
    if (*totals == TotalsSeen::kDiffer) counts = CountUnits(tx, backfill.id);
    if (!counts.ok()) return counts.status();
    told = Over(tx, backfill, *counts, *totals);
    idle = In(*counts, State::kUndetermined) == 0;
  }
  if (!told.ok()) return told.status();
  const Standing& standing = *told;
  const bool ended = IsOver(standing.phase);
  const bool same = standing.phase == backfill.phase && standing.reason == backfill.reason &&
                    standing.message == backfill.message && ended == backfill.ended.has_value();
  if (same) return idle;
  const Phase before = backfill.phase;
  backfill.phase = standing.phase;
  backfill.reason = standing.reason;
  backfill.message = standing.message;
  if (!ended) {
    backfill.ended.reset();
  } else if (!backfill.ended) {
    backfill.ended = tx.now();
  }
  absl::Status status = UpdateBackfill(tx, backfill);
  if (status.ok()) status = RecordPhaseMoved(tx, before, backfill);
  if (status.ok() && ended) status = ReturnTime(tx, backfill);
  if (!status.ok()) return status;
  return idle;
}

}  // namespace interlock::backfill
