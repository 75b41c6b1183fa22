#include "lib/audit/retention.h"

#include <vector>

#include "lib/audit/block.h"
#include "lib/audit/json_object.h"

namespace interlock::audit {
namespace {

absl::Status RemoveEvents(store::Transaction& tx, const Block& block) {
  for (const Link& link : block.links) {
    absl::Status status =
        tx.Execute("DELETE FROM audit_event WHERE seq = :seq", {link.sequence}).status();
    if (!status.ok()) return status;
  }
  return tx.Execute("DELETE FROM audit_block WHERE first_position = :first", {block.first_position})
      .status();
}

// Before the events go, so that a row's number is never used again.
absl::Status Tell(store::Transaction& tx, const Block& block) {
  Event event;
  event.caller.identity = "interlock";
  event.caller.reason = "older than retention.audit";
  event.method = "worker.audit_retention";
  event.resource_type = "audit";
  event.before = JsonObject()
                     .Number("first_sequence", block.first_position)
                     .Number("last_sequence", block.last_position())
                     .Text("chain_hash", block.hash_after())
                     .ToString();
  return Record(tx, event);
}

}  // namespace

absl::StatusOr<int64_t> RemoveOldest(store::Transaction& tx, Instant before) {
  auto blocks = BlocksFrom(tx, 0, 2);
  if (!blocks.ok()) return blocks.status();
  // An event is never younger than its block.
  if (blocks->size() < 2 || blocks->front().at >= before) return 0;
  const Block& block = blocks->front();
  if (block.links.empty()) return 0;  // damaged: it stays, and the walk names it
  absl::Status status = Tell(tx, block);
  if (status.ok()) {
    status = tx.Execute(
                   "INSERT INTO audit_checkpoint (position, hash, highest_seq, at_ms) VALUES"
                   " (:position, :hash, :highest, :at)",
                   {block.last_position(), block.hash_after(), block.highest_sequence(), tx.now()})
                 .status();
  }
  if (status.ok()) status = RemoveEvents(tx, block);
  if (!status.ok()) return status;
  return static_cast<int64_t>(block.links.size());
}

}  // namespace interlock::audit
