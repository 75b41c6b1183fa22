#include "lib/backfill/totals.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "lib/backfill/rows.h"

namespace interlock::backfill {
namespace {

struct Difference {
  std::string reason, message;  // "" where there is none
  bool known = true;
};

absl::StatusOr<Difference> DifferenceOf(store::Transaction& tx, const Backfill& backfill) {
  if (backfill.expected_rows) {
    auto totals = SumUnits(tx, backfill.id);
    if (!totals.ok()) return totals.status();
    if (!totals->rows_known) return Difference{"", "", false};
    if (totals->rows != *backfill.expected_rows) {
      return Difference{"ROWS_DIFFER", absl::StrCat(totals->rows, " rows came in, and ",
                                                    *backfill.expected_rows, " were expected")};
    }
  }
  if (backfill.terms.expected_sums.empty()) return Difference{};
  auto sums = SumMetrics(tx, backfill.id);
  if (!sums.ok()) return sums.status();
  if (!*sums) return Difference{"", "", false};
  for (const ExpectedSum& expected : backfill.terms.expected_sums) {
    const double found = (**sums)[expected.metric];
    if (!Fulfils(expected, found)) return Difference{"SUMS_DIFFER", Differs(expected, found)};
  }
  return Difference{};
}

absl::Status MakeSuspect(store::Transaction& tx, const Backfill& backfill,
                         const Difference& difference) {
  auto units = ReadUnits(tx, backfill.id, {State::kDone, State::kEmpty}, Instant::kMax, false,
                         kMaxPartitions);
  if (!units.ok()) return units.status();
  for (StoredUnit& unit : *units) {
    unit.state = Next(unit.state, Seen::kTotalsDiffer).state;
    unit.reason = difference.reason;
    unit.message = difference.message;
    absl::Status status = UpdateUnit(tx, unit);
    for (const Interval& partition : unit.unit.partitions) {
      if (status.ok()) status = ForgetDone(tx, backfill.datasource, partition, backfill.id);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TotalsSeen> JudgeTotals(store::Transaction& tx, Backfill& backfill,
                                       const std::map<State, int64_t>& counts) {
  const bool expected = backfill.expected_rows || !backfill.terms.expected_sums.empty();
  if (!expected || backfill.totals_judged) return TotalsSeen::kAsExpected;
  for (const auto& [state, count] : counts) {
    if (count > 0 && !IsGood(state)) return TotalsSeen::kAsExpected;  // that is told first
  }
  auto difference = DifferenceOf(tx, backfill);
  if (!difference.ok()) return difference.status();
  if (!difference->known) return TotalsSeen::kNotKnown;
  if (difference->reason.empty()) return TotalsSeen::kAsExpected;
  backfill.totals_judged = true;
  absl::Status status = MakeSuspect(tx, backfill, *difference);
  if (!status.ok()) return status;
  return TotalsSeen::kDiffer;
}

}  // namespace interlock::backfill
