#include "lib/audit/chain.h"

#include <optional>
#include <utility>
#include <vector>

#include "lib/audit/block.h"
#include "lib/audit/rows.h"
#include "lib/time/status_reason.h"

namespace interlock::audit {
namespace {

struct Gap {
  int64_t first = 0;
  int64_t last = 0;
  Instant since;
};

// What one pass is about to store.
struct Pass {
  Head head;  // as the snapshot has it
  std::vector<RecordedEvent> events;
  std::vector<Gap> gaps_before;
  std::vector<Gap> gaps_after;
  int64_t highest = 0;
};

absl::StatusOr<std::vector<Gap>> ReadGaps(store::Transaction& tx) {
  auto rows =
      tx.Query("SELECT first_seq, last_seq, since_ms FROM audit_gap ORDER BY first_seq", {});
  if (!rows.ok()) return rows.status();
  std::vector<Gap> gaps;
  for (const store::Row& row : *rows) gaps.push_back({row.Int(0), row.Int(1), row.At(2)});
  return gaps;
}

absl::StatusOr<std::vector<RecordedEvent>> EventsBetween(store::Transaction& tx, int64_t first,
                                                         int64_t last, int64_t most) {
  auto rows = tx.Query("SELECT " INTERLOCK_AUDIT_COLUMNS
                       " FROM audit_event WHERE seq >= :first AND seq <= :last ORDER BY seq"
                       " LIMIT :most",
                       {first, last, most});
  if (!rows.ok()) return rows.status();
  std::vector<RecordedEvent> events;
  for (const store::Row& row : *rows) events.push_back(EventFrom(row));
  return events;
}

// What is left of `gap` once `events`, in order and within it, have turned up.
void KeepRest(const Gap& gap, const std::vector<RecordedEvent>& events, std::vector<Gap>& kept) {
  int64_t from = gap.first;
  for (const RecordedEvent& event : events) {
    if (event.sequence > from) kept.push_back({from, event.sequence - 1, gap.since});
    from = event.sequence + 1;
  }
  if (from <= gap.last) kept.push_back({from, gap.last, gap.since});
}

int64_t Room(const Pass& pass) { return kBlockEvents - static_cast<int64_t>(pass.events.size()); }

absl::Status TakeLate(store::Transaction& tx, Pass& pass) {
  for (const Gap& gap : pass.gaps_before) {
    if (tx.now() - gap.since > kGapKept) continue;
    if (Room(pass) == 0) {
      pass.gaps_after.push_back(gap);
      continue;
    }
    auto late = EventsBetween(tx, gap.first, gap.last, Room(pass));
    if (!late.ok()) return late.status();
    KeepRest(gap, *late, pass.gaps_after);
    for (RecordedEvent& event : *late) pass.events.push_back(std::move(event));
  }
  return absl::OkStatus();
}

absl::Status TakeNew(store::Transaction& tx, Pass& pass) {
  pass.highest = pass.head.highest_sequence;
  if (Room(pass) == 0) return absl::OkStatus();
  auto fresh = EventsBetween(tx, pass.highest + 1, INT64_MAX, Room(pass));
  if (!fresh.ok() || fresh->empty()) return fresh.status();
  const Gap between{pass.highest + 1, fresh->back().sequence, tx.now()};
  KeepRest(between, *fresh, pass.gaps_after);
  pass.highest = fresh->back().sequence;
  for (RecordedEvent& event : *fresh) pass.events.push_back(std::move(event));
  return absl::OkStatus();
}

absl::Status Look(store::Transaction& tx, Pass& pass) {
  pass = Pass();
  auto head = ReadHead(tx);
  if (!head.ok()) return head.status();
  pass.head = *std::move(head);
  auto gaps = ReadGaps(tx);
  if (!gaps.ok()) return gaps.status();
  pass.gaps_before = *std::move(gaps);
  absl::Status status = TakeLate(tx, pass);
  return status.ok() ? TakeNew(tx, pass) : status;
}

Block BlockOf(const Pass& pass) {
  Block block;
  block.first_position = pass.head.position + 1;
  block.hash_before = pass.head.hash;
  const std::string* before = &pass.head.hash;
  for (const RecordedEvent& event : pass.events) {
    block.links.push_back({event.sequence, ChainHash(*before, event)});
    before = &block.links.back().hash;
  }
  return block;
}

absl::Status StoreGaps(store::Transaction& tx, const Pass& pass) {
  if (pass.gaps_before.empty() && pass.gaps_after.empty()) return absl::OkStatus();
  absl::Status status = tx.Execute("DELETE FROM audit_gap", {}).status();
  for (const Gap& gap : pass.gaps_after) {
    if (!status.ok()) break;
    status = tx.Execute(
                   "INSERT INTO audit_gap (first_seq, last_seq, since_ms) VALUES (:first, :last,"
                   " :since)",
                   {gap.first, gap.last, gap.since})
                 .status();
  }
  return status;
}

absl::Status StorePass(store::Transaction& tx, const Pass& pass, Block block) {
  auto moved = tx.Execute(
      "UPDATE audit_head SET position = :position, hash = :hash, highest_seq = :highest"
      " WHERE id = 1 AND position = :before",
      {block.last_position(), block.hash_after(), pass.highest, pass.head.position});
  if (!moved.ok()) return moved.status();
  if (*moved != 1) {
    return WithReason(absl::AbortedError("somebody else has chained meanwhile"), "CHAIN_MOVED");
  }
  block.at = tx.now();
  absl::Status status = InsertBlock(tx, block);
  return status.ok() ? StoreGaps(tx, pass) : status;
}

}  // namespace

absl::StatusOr<int64_t> ChainOnce(store::Store& store) {
  Pass pass;
  absl::Status status = store.Read([&](store::Transaction& tx) { return Look(tx, pass); });
  if (!status.ok()) return status;
  if (pass.events.empty()) return 0;
  const Block block = BlockOf(pass);
  status = store.Write([&](store::Transaction& tx) { return StorePass(tx, pass, block); });
  if (!status.ok()) return status;
  return static_cast<int64_t>(pass.events.size());
}

absl::StatusOr<int64_t> CountUnchained(store::Transaction& tx, int64_t most) {
  auto head = ReadHead(tx);
  if (!head.ok()) return head.status();
  auto rows = tx.Query(
      "SELECT COUNT(*) FROM (SELECT 1 FROM audit_event WHERE seq > :highest LIMIT :most) AS fresh",
      {head->highest_sequence, most});
  if (!rows.ok()) return rows.status();
  int64_t count = rows->front().Int(0);
  auto gaps = ReadGaps(tx);
  if (!gaps.ok()) return gaps.status();
  for (const Gap& gap : *gaps) {
    rows = tx.Query("SELECT COUNT(*) FROM audit_event WHERE seq >= :first AND seq <= :last",
                    {gap.first, gap.last});
    if (!rows.ok()) return rows.status();
    count += rows->front().Int(0);
  }
  return count;
}

}  // namespace interlock::audit
