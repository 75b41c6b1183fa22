// Where the whole backfill stands, told from its units.
#include "absl/strings/str_cat.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/rollback.h"
#include "lib/backfill/state_events.h"

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

int64_t Unfinished(const std::map<State, int64_t>& counts) {
  int64_t unfinished = 0;
  for (const auto& [state, count] : counts) {
    if (!IsFinal(state) && state != State::kUndetermined) unfinished += count;
  }
  return unfinished;
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
                    absl::StrCat(*at_work, " partitions are being brought back")};
  }
  const int64_t back = In(counts, State::kRolledBack);
  const int64_t kept = In(counts, State::kDone) + In(counts, State::kSuspect);
  if (back == 0 || kept > 0) return std::nullopt;
  return Standing{Phase::kRolledBack, "",
                  absl::StrCat("the generation before it is visible again in ", back, " units")};
}

absl::StatusOr<Standing> Over(store::Transaction& tx, const Backfill& backfill,
                              const std::map<State, int64_t>& counts) {
  auto rolled_back = RolledBack(tx, backfill, counts);
  if (!rolled_back.ok()) return rolled_back.status();
  if (*rolled_back) return **rolled_back;
  const int64_t unclear = In(counts, State::kSuspect) + In(counts, State::kUndetermined);
  if (unclear > 0) {
    return Standing{
        Phase::kNeedsAttention, "UNITS_NOT_PROVEN",
        absl::StrCat(unclear, " units are SUSPECT or UNDETERMINED: accept or retry them")};
  }
  if (const int64_t failed = In(counts, State::kFailed); failed > 0) {
    return Standing{Phase::kFailed, "UNITS_FAILED", absl::StrCat(failed, " units have failed")};
  }
  if (const int64_t cancelled = In(counts, State::kCancelled); cancelled > 0) {
    return Standing{Phase::kCancelled, "", absl::StrCat(cancelled, " units were given up")};
  }
  auto totals = SumUnits(tx, backfill.id);
  if (!totals.ok()) return totals.status();
  if (backfill.expected_rows && totals->rows_known && totals->rows != *backfill.expected_rows &&
      In(counts, State::kSkipped) + In(counts, State::kRolledBack) == 0) {
    return Standing{Phase::kNeedsAttention, "ROWS_DIFFER",
                    absl::StrCat(totals->rows, " rows came in, and ", *backfill.expected_rows,
                                 " were expected")};
  }
  return Standing{Phase::kDone, "", ""};
}

}  // namespace

absl::StatusOr<bool> UpdatePhase(store::Transaction& tx, Backfill& backfill) {
  auto counts = CountUnits(tx, backfill.id);
  if (!counts.ok()) return counts.status();
  const absl::StatusOr<Standing> told = Unfinished(*counts) > 0
                                            ? absl::StatusOr<Standing>(AtWork(backfill))
                                            : Over(tx, backfill, *counts);
  if (!told.ok()) return told.status();
  const Standing& standing = *told;
  const bool idle = Unfinished(*counts) == 0 && In(*counts, State::kUndetermined) == 0;
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
