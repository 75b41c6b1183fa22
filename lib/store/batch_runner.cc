#include "lib/store/batch_runner.h"

#include <optional>

#include "lib/store/facts.h"
#include "lib/store/store_errors.h"
#include "lib/store/transaction.h"

namespace interlock::store {

void BatchRunner::Run(std::vector<PendingWrite>& batch) {
  Outcome outcome = RunTogether(batch, 0, batch.size(), Way::kBare);
  if (outcome.next == Way::kSavepoints) {
    outcome = RunTogether(batch, 0, batch.size(), Way::kSavepoints);
  }
  if (outcome.status.ok()) return;
  if (outcome.next == Way::kAlone && batch.size() > 1) return RunAlone(batch);
  for (PendingWrite& write : batch) write.result = outcome.status;
}

void BatchRunner::RunAlone(Batch& batch) {
  for (size_t i = 0; i < batch.size(); ++i) {
    const absl::Status status = RunTogether(batch, i, i + 1, Way::kSavepoints).status;
    if (!status.ok()) batch[i].result = status;
  }
}

void BatchRunner::Probe() {
  Batch nothing;
  nothing.push_back({[](Transaction& transaction) {
                       return transaction
                           .Execute("UPDATE store_facts SET number = number WHERE name = :name",
                                    {"clock_mark"})
                           .status();
                     },
                     nullptr,
                     {}});
  Run(nothing);
}

BatchRunner::Outcome BatchRunner::RunTogether(Batch& batch, size_t first, size_t last, Way way) {
  Outcome outcome{Control("BEGIN IMMEDIATE")};
  if (outcome.status.ok()) {
    outcome = Decide(batch, first, last, way);
    // The engine may have rolled back by itself already; then this fails, to no harm.
    if (!outcome.status.ok()) Control("ROLLBACK").IgnoreError();
  }
  if (outcome.next != Way::kSavepoints) NoteHealth(outcome.status);
  return outcome;
}

BatchRunner::Outcome BatchRunner::Decide(Batch& batch, size_t first, size_t last, Way way) {
  // After the lock is ours: what others decided before is in the past of this.
  clock_.Watch();
  const Instant now = clock_.Now();
  bool changed = false;
  for (size_t i = first; i < last; ++i) {
    Outcome outcome = way == Way::kBare ? RunBare(batch[i], now) : RunInSavepoint(batch[i], now);
    if (!outcome.status.ok()) return outcome;
    changed = changed || batch[i].result.ok();
  }
  const absl::Status status = Commit(now, changed);
  return {status, status.ok() || IsStoreFailure(status) ? Way::kGiveUp : Way::kAlone};
}

void BatchRunner::NoteHealth(const absl::Status& status) {
  if (!IsStoreCorrupt(health_)) health_ = status;
}

BatchRunner::Outcome BatchRunner::RunBare(PendingWrite& write, Instant now) {
  ConnectionTransaction transaction(connection_, ConnectionTransaction::Access::kWrite, now);
  write.result = RunBody(write.body, transaction);
  if (IsStoreFailure(transaction.failure())) return {transaction.failure(), Way::kAlone};
  // On PostgreSQL a failed statement ends the transaction, whatever it was.
  const bool undo = !write.result.ok() && (transaction.wrote() || !transaction.failure().ok());
  return undo ? Outcome{write.result, Way::kSavepoints} : Outcome{};
}

BatchRunner::Outcome BatchRunner::RunInSavepoint(PendingWrite& write, Instant now) {
  absl::Status status = Control("SAVEPOINT body");
  if (!status.ok()) return {status, Way::kAlone};
  ConnectionTransaction transaction(connection_, ConnectionTransaction::Access::kWrite, now);
  write.result = RunBody(write.body, transaction);
  if (IsStoreFailure(transaction.failure())) return {transaction.failure(), Way::kAlone};
  if (!write.result.ok()) status = Control("ROLLBACK TO body");
  if (status.ok()) status = Control("RELEASE body");
  return {status, Way::kAlone};
}

absl::Status BatchRunner::Commit(Instant now, bool changed) {
  const std::optional<ClockFacts> mark = clock_.MarkFor(now);
  // With refusals alone there is nothing to make durable; but for the time they went by: a
  // caller was told that its lease has expired.
  if (!changed && !mark.has_value()) return Control("ROLLBACK");
  if (mark.has_value()) {
    absl::Status status = WriteClock(connection_, *mark);
    if (!status.ok()) return status;
  }
  absl::Status status = Control("COMMIT");
  if (status.ok() && mark.has_value()) clock_.Stored(*mark);
  return status;
}

}  // namespace interlock::store
