#include "lib/store/batch_runner.h"

#include <optional>

#include "lib/store/facts.h"
#include "lib/store/store_errors.h"
#include "lib/store/transaction.h"

namespace interlock::store {

void BatchRunner::Run(std::vector<PendingWrite>& batch) {
  const Outcome together = RunTogether(batch, 0, batch.size());
  if (together.status.ok()) return;
  const bool alone = together.alone_may_do && batch.size() > 1;
  for (size_t i = 0; i < batch.size(); ++i) {
    const absl::Status status = alone ? RunTogether(batch, i, i + 1).status : together.status;
    if (!status.ok()) batch[i].result = status;
  }
}

void BatchRunner::Probe() {
  Batch nothing;
  nothing.push_back({[this](Transaction& transaction) {
                       return transaction
                           .Execute("UPDATE store_facts SET number = number WHERE name = :name",
                                    {"clock_mark"})
                           .status();
                     },
                     nullptr,
                     {}});
  Run(nothing);
}

BatchRunner::Outcome BatchRunner::RunTogether(Batch& batch, size_t first, size_t last) {
  Outcome outcome{Control("BEGIN IMMEDIATE")};
  if (outcome.status.ok()) {
    outcome = Decide(batch, first, last);
    // The engine may have rolled back by itself already; then this fails, to no harm.
    if (!outcome.status.ok()) Control("ROLLBACK").IgnoreError();
  }
  NoteHealth(outcome.status);
  return outcome;
}

BatchRunner::Outcome BatchRunner::Decide(Batch& batch, size_t first, size_t last) {
  // After the lock is ours: what others decided before is in the past of this.
  clock_.Watch();
  const Instant now = clock_.Now();
  absl::Status status = RunBodies(batch, first, last, now);
  if (!status.ok()) return {status, true};
  bool changed = false;
  for (size_t i = first; i < last; ++i) changed = changed || batch[i].result.ok();
  status = Commit(now, changed);
  return {status, !IsStoreFailure(status)};
}

void BatchRunner::NoteHealth(const absl::Status& status) {
  if (!IsStoreCorrupt(health_)) health_ = status;
}

absl::Status BatchRunner::RunBodies(Batch& batch, size_t first, size_t last, Instant now) {
  for (size_t i = first; i < last; ++i) {
    absl::Status status = RunInSavepoint(batch[i], now);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status BatchRunner::RunInSavepoint(PendingWrite& write, Instant now) {
  absl::Status status = Control("SAVEPOINT body");
  if (!status.ok()) return status;
  ConnectionTransaction transaction(connection_, ConnectionTransaction::Access::kWrite, now);
  write.result = RunBody(write.body, transaction);
  if (IsStoreFailure(transaction.failure())) return transaction.failure();
  if (!write.result.ok()) {
    status = Control("ROLLBACK TO body");
    if (!status.ok()) return status;
  }
  return Control("RELEASE body");
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
