#include "lib/store/batch_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

LockSet LocksOf(const std::vector<PendingWrite>& batch, size_t first, size_t last) {
  LockSet locks;
  for (size_t i = first; i < last; ++i) {
    if (!batch[i].locks.has_value()) return {true, {}};
    locks.names.insert(batch[i].locks->begin(), batch[i].locks->end());
  }
  return locks;
}

}  // namespace

void BatchRunner::Run(std::vector<PendingWrite>& batch) {
  Outcome outcome = Try(batch, 0, batch.size(), Way::kBare);
  if (outcome.next == Way::kSavepoints) outcome = Try(batch, 0, batch.size(), Way::kSavepoints);
  if (outcome.status.ok()) return;
  if (outcome.next == Way::kAlone && batch.size() > 1) return RunAlone(batch);
  for (PendingWrite& write : batch) write.result = outcome.status;
}

void BatchRunner::RunAlone(Batch& batch) {
  for (size_t i = 0; i < batch.size(); ++i) {
    const absl::Status status = Try(batch, i, i + 1, Way::kSavepoints).status;
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
                     nullptr, std::vector<std::string>()});
  Run(nothing);
}

BatchRunner::Outcome BatchRunner::Try(Batch& batch, size_t first, size_t last, Way way) {
  Outcome outcome;
  for (int run = 0; run < kMostRuns; ++run) {
    outcome = RunTogether(batch, first, last, way);
    if (!IsConflict(outcome.status)) break;
  }
  if (IsConflict(outcome.status)) {
    outcome = {StoreUnavailable(absl::StrCat("given up after ", kMostRuns,
                                             " conflicts: ", outcome.status.message())),
               Way::kAlone};
  }
  if (outcome.next != Way::kSavepoints) NoteHealth(outcome.status);
  return outcome;
}

BatchRunner::Outcome BatchRunner::RunTogether(Batch& batch, size_t first, size_t last, Way way) {
  Shared shared;
  shared.held = LocksOf(batch, first, last);
  const absl::Status begun = transaction_.Begin(shared.held);
  if (!begun.ok()) return {begun};
  Outcome outcome = Decide(batch, first, last, way, shared);
  if (!outcome.status.ok()) {
    transaction_.Rollback();
    return outcome;
  }
  const absl::Status status = transaction_.Commit(shared.changed, shared.channels);
  if (status.ok()) return {};
  // The engine may have rolled back by itself already; then this fails, to no harm.
  transaction_.Rollback();
  return {status, IsStoreFailure(status) ? Way::kGiveUp : Way::kAlone};
}

BatchRunner::Outcome BatchRunner::Decide(Batch& batch, size_t first, size_t last, Way way,
                                         Shared& shared) {
  for (size_t i = first; i < last; ++i) {
    Outcome outcome = way == Way::kBare ? RunBare(batch[i], shared)
                                        : RunInSavepoint(batch[i], last - first == 1, shared);
    if (!outcome.status.ok()) return outcome;
    shared.changed = shared.changed || batch[i].result.ok();
  }
  return {};
}

void BatchRunner::NoteHealth(const absl::Status& status) {
  if (!IsStoreCorrupt(health_)) health_ = status;
}

absl::Status BatchRunner::Fatal(PendingWrite& write, const WriteTransaction& transaction) {
  if (!transaction.wanted().empty() && write.locks.has_value()) {
    write.locks->push_back(transaction.wanted());
  }
  const absl::Status& failure = transaction.failure();
  return IsStoreFailure(failure) || IsConflict(failure) ? failure : absl::OkStatus();
}

BatchRunner::Outcome BatchRunner::RunBare(PendingWrite& write, Shared& shared) {
  WriteTransaction transaction(transaction_, shared.held);
  write.result = RunBody(write.body, transaction);
  absl::Status fatal = Fatal(write, transaction);
  if (!fatal.ok()) return {std::move(fatal), Way::kAlone};
  if (write.result.ok()) {
    shared.channels.insert(transaction.channels().begin(), transaction.channels().end());
    return {};
  }
  // On PostgreSQL a failed statement ends the transaction, whatever it was.
  const bool undo = transaction.wrote() || !transaction.failure().ok();
  return undo ? Outcome{write.result, Way::kSavepoints} : Outcome{};
}

BatchRunner::Outcome BatchRunner::RunInSavepoint(PendingWrite& write, bool alone, Shared& shared) {
  absl::Status status = Control("SAVEPOINT body");
  if (!status.ok()) return {status, Way::kAlone};
  WriteTransaction transaction(transaction_, shared.held);
  write.result = RunBody(write.body, transaction);
  absl::Status fatal = Fatal(write, transaction);
  if (!fatal.ok()) return {std::move(fatal), Way::kAlone};
  // What another server committed meanwhile is seen by one who begins anew.
  if (!alone && transaction_.shared() && IsConstraintViolated(transaction.failure())) {
    return {write.result, Way::kAlone};
  }
  if (write.result.ok()) {
    shared.channels.insert(transaction.channels().begin(), transaction.channels().end());
  } else {
    status = Control("ROLLBACK TO body");
  }
  if (status.ok()) status = Control("RELEASE body");
  return {status, Way::kAlone};
}

}  // namespace interlock::store
