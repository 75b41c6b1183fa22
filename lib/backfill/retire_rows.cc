// Retirements in the store's tables.
#include <algorithm>
#include <array>

#include "lib/backfill/retire.h"
#include "lib/backfill/rows.h"
#include "lib/backfill/units.h"

namespace interlock::backfill {
namespace {

constexpr std::array<absl::string_view, 3> kSteps = {"MARK", "DONE", "LEFT"};

RetireStep StepOf(const std::string& name) {
  for (size_t i = 0; i < kSteps.size(); ++i) {
    if (kSteps[i] == name) return static_cast<RetireStep>(i);
  }
  return RetireStep::kLeft;
}

// What the attempt that wrote the partition saw there before; nothing where it saw nothing.
absl::StatusOr<std::vector<std::string>> SegmentsBefore(store::Transaction& tx,
                                                        const StoredPartition& partition) {
  auto attempt = ReadAttempt(tx, partition.proof->task_id);
  if (!attempt.ok()) return attempt.status();
  for (const PartitionBefore& before : attempt->before.partitions) {
    if (before.partition == partition.partition) return before.segments;
  }
  return std::vector<std::string>();
}

}  // namespace

absl::string_view NameOf(RetireStep step) { return kSteps[static_cast<size_t>(step)]; }

absl::StatusOr<std::vector<Retirement>> PlanRetirements(store::Transaction& tx,
                                                        const Backfill& backfill) {
  PartitionFilter filter;
  filter.states = {State::kDone, State::kEmpty};
  auto partitions = ReadPartitions(tx, backfill.id, filter, Instant::kMin, kMaxPartitions);
  if (!partitions.ok()) return partitions.status();
  std::vector<Retirement> planned;
  for (const StoredPartition& partition : *partitions) {
    if (!partition.proof || partition.proof->version.empty()) continue;
    auto ids = SegmentsBefore(tx, partition);
    if (!ids.ok()) return ids.status();
    if (ids->empty()) continue;
    Retirement one;
    one.backfill_id = backfill.id;
    one.partition = partition.partition;
    one.ids = *std::move(ids);
    planned.push_back(std::move(one));
  }
  return planned;
}

absl::Status PutRetirement(store::Transaction& tx, const Retirement& retirement) {
  absl::Status status =
      tx.Execute("DELETE FROM backfill_retirement WHERE backfill_id = :id AND start_ms = :start",
                 {retirement.backfill_id, retirement.partition.start()})
          .status();
  if (!status.ok()) return status;
  return tx
      .Execute(
          "INSERT INTO backfill_retirement (backfill_id, start_ms, end_ms, step, message, ids,"
          " reservation_id, token, called_ms, clear_ms) VALUES (:id, :start, :end, :step,"
          " :message, :ids, :reservation, :token, :called, :clear)",
          {retirement.backfill_id, retirement.partition.start(), retirement.partition.end(),
           std::string(NameOf(retirement.step)), retirement.message, TextsToJson(retirement.ids),
           retirement.reservation_id, retirement.token, retirement.called, retirement.clear})
      .status();
}

absl::StatusOr<std::vector<Retirement>> ReadRetirements(store::Transaction& tx,
                                                        const std::string& backfill_id) {
  auto rows = tx.Query(
      "SELECT backfill_id, start_ms, end_ms, step, message, ids, reservation_id, token,"
      " called_ms, clear_ms FROM backfill_retirement WHERE backfill_id = :id ORDER BY start_ms",
      {backfill_id});
  if (!rows.ok()) return rows.status();
  std::vector<Retirement> retirements;
  for (const store::Row& row : *rows) {
    Retirement one;
    one.backfill_id = row.Text(0);
    one.partition = *Interval::Of(row.At(1), std::max(row.At(1), row.At(2)));
    one.step = StepOf(row.Text(3));
    one.message = row.Text(4);
    one.ids = TextsFrom(row.Text(5));
    one.reservation_id = row.Text(6);
    one.token = row.Int(7);
    one.called = row.MaybeAt(8);
    one.clear = row.MaybeAt(9);
    retirements.push_back(std::move(one));
  }
  return retirements;
}

absl::Status RecordRetired(store::Transaction& tx, const Retirement& retirement) {
  PartitionFilter filter;
  filter.overlapping = retirement.partition;
  auto found = ReadPartitions(tx, retirement.backfill_id, filter, Instant::kMin, 1);
  if (!found.ok()) return found.status();
  if (found->empty() || !found->front().proof) return absl::OkStatus();
  StoredPartition& partition = found->front();
  partition.proof->level = "RETIRED";
  return UpdatePartition(tx, retirement.backfill_id, partition);
}

}  // namespace interlock::backfill
