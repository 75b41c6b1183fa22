// Rollbacks in the store's tables.
#include <algorithm>
#include <array>

#include "lib/backfill/derived_rows.h"
#include "lib/backfill/record.h"
#include "lib/backfill/rollback.h"
#include "lib/backfill/rows.h"

namespace interlock::backfill {
namespace {

constexpr std::array<absl::string_view, 5> kSteps = {"REVIVE", "MARK", "SETTLE", "DONE", "FAILED"};

RollbackStep StepOf(const std::string& name) {
  for (size_t i = 0; i < kSteps.size(); ++i) {
    if (kSteps[i] == name) return static_cast<RollbackStep>(i);
  }
  return RollbackStep::kFailed;
}

store::Value Millis(const std::optional<absl::Duration>& duration) {
  return duration ? store::Value(absl::ToInt64Milliseconds(*duration)) : store::Value();
}

Rollback RollbackOf(const store::Row& row) {
  Rollback rollback;
  rollback.backfill_id = row.Text(0);
  rollback.partition = *Interval::Of(row.At(1), std::max(row.At(1), row.At(2)));
  rollback.step = StepOf(row.Text(3));
  rollback.message = row.Text(4);
  rollback.version = row.Text(5);
  rollback.old_ids = TextsFrom(row.Text(6));
  rollback.new_ids = TextsFrom(row.Text(7));
  rollback.accept_foreign = row.Flag(8);
  rollback.requested_by = row.Text(9);
  rollback.request_reason = row.Text(10);
  rollback.request_id = row.Text(11);
  rollback.reservation_id = row.Text(12);
  rollback.token = row.Int(13);
  rollback.called = row.MaybeAt(14);
  rollback.hole = row.MaybeAt(15);
  if (!row.IsNull(16)) rollback.gap = absl::Milliseconds(row.Int(16));
  return rollback;
}

absl::StatusOr<std::optional<StoredPartition>> PartitionOf(store::Transaction& tx,
                                                           const Rollback& rollback) {
  PartitionFilter filter;
  filter.overlapping = rollback.partition;
  auto found = ReadPartitions(tx, rollback.backfill_id, filter, Instant::kMin, 1);
  if (!found.ok()) return found.status();
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

// Stores the partition; equal work counts it as done no more, and what is derived hears of it.
absl::Status NoLongerDone(store::Transaction& tx, const Rollback& rollback,
                          StoredPartition& partition) {
  auto backfill = ReadBackfill(tx, rollback.backfill_id);
  if (!backfill.ok()) return backfill.status();
  absl::Status status = UpdatePartition(tx, rollback.backfill_id, partition);
  if (status.ok()) {
    status = ForgetDone(tx, backfill->datasource, rollback.partition, rollback.backfill_id);
  }
  return status.ok() ? NoteChange(tx, backfill->datasource, rollback.partition) : status;
}

}  // namespace

absl::string_view NameOf(RollbackStep step) { return kSteps[static_cast<size_t>(step)]; }

absl::Status PutRollback(store::Transaction& tx, const Rollback& rollback) {
  absl::Status status =
      tx.Execute("DELETE FROM backfill_rollback WHERE backfill_id = :id AND start_ms = :start",
                 {rollback.backfill_id, rollback.partition.start()})
          .status();
  if (!status.ok()) return status;
  return tx
      .Execute(
          "INSERT INTO backfill_rollback (backfill_id, start_ms, end_ms, step, message, version,"
          " old_ids, new_ids, accept_foreign, requested_by, request_reason, request_id,"
          " reservation_id, token, called_ms, hole_ms, gap_ms) VALUES (:id, :start, :end, :step,"
          " :message, :version, :old, :new, :foreign, :by, :reason, :request, :reservation,"
          " :token, :called, :hole, :gap)",
          {rollback.backfill_id, rollback.partition.start(), rollback.partition.end(),
           std::string(NameOf(rollback.step)), rollback.message, rollback.version,
           TextsToJson(rollback.old_ids), TextsToJson(rollback.new_ids), rollback.accept_foreign,
           rollback.requested_by, rollback.request_reason, rollback.request_id,
           rollback.reservation_id, rollback.token, rollback.called, rollback.hole,
           Millis(rollback.gap)})
      .status();
}

absl::StatusOr<std::vector<Rollback>> ReadRollbacks(store::Transaction& tx,
                                                    const std::string& backfill_id) {
  auto rows = tx.Query(
      "SELECT backfill_id, start_ms, end_ms, step, message, version, old_ids, new_ids,"
      " accept_foreign, requested_by, request_reason, request_id, reservation_id, token,"
      " called_ms, hole_ms, gap_ms FROM backfill_rollback WHERE backfill_id = :id"
      " ORDER BY start_ms",
      {backfill_id});
  if (!rows.ok()) return rows.status();
  std::vector<Rollback> rollbacks;
  for (const store::Row& row : *rows) rollbacks.push_back(RollbackOf(row));
  return rollbacks;
}

absl::Status RecordRolledBack(store::Transaction& tx, const Rollback& rollback,
                              const std::optional<int64_t>& rows) {
  auto partition = PartitionOf(tx, rollback);
  if (!partition.ok() || !*partition) return partition.status();
  (*partition)->state = State::kRolledBack;
  (*partition)->reason = "";
  (*partition)->message = rollback.message;
  if (auto& proof = (*partition)->proof) {
    proof->rows = rows;
    if (rollback.gap) proof->gap_ms = absl::ToInt64Milliseconds(*rollback.gap);
  }
  absl::Status status = NoLongerDone(tx, rollback, **partition);
  if (!status.ok()) return status;
  return tx
      .Execute(
          "UPDATE backfill_unit SET state = 'ROLLED_BACK', reason = '', message = :message"
          " WHERE backfill_id = :id AND number = :number AND NOT EXISTS (SELECT 1 FROM"
          " backfill_partition p WHERE p.backfill_id = :same AND p.unit = :unit AND"
          " p.state IN ('DONE', 'SUSPECT', 'UNDETERMINED'))",
          {rollback.message, rollback.backfill_id, (*partition)->unit, rollback.backfill_id,
           (*partition)->unit})
      .status();
}

absl::Status RecordRollbackFailed(store::Transaction& tx, const Rollback& rollback) {
  auto partition = PartitionOf(tx, rollback);
  if (!partition.ok() || !*partition) return partition.status();
  (*partition)->state = State::kSuspect;
  (*partition)->reason = "ROLLBACK_FAILED";
  (*partition)->message = rollback.message;
  absl::Status status = NoLongerDone(tx, rollback, **partition);
  if (!status.ok()) return status;
  return tx
      .Execute(
          "UPDATE backfill_unit SET state = 'SUSPECT', reason = 'ROLLBACK_FAILED',"
          " message = :message WHERE backfill_id = :id AND number = :number",
          {rollback.message, rollback.backfill_id, (*partition)->unit})
      .status();
}

absl::StatusOr<int64_t> CountRollbacksAtWork(store::Transaction& tx,
                                             const std::string& backfill_id) {
  auto rows = tx.Query(
      "SELECT COUNT(*) FROM backfill_rollback WHERE backfill_id = :id AND"
      " step NOT IN ('DONE', 'FAILED')",
      {backfill_id});
  if (!rows.ok()) return rows.status();
  return rows->front().Int(0);
}

}  // namespace interlock::backfill
