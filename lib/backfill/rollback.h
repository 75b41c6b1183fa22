// Bringing the former generation back: what is kept of it while it is under way.
//
// Partition by partition, under a REPLACE reservation: the old segments are revived by id
// (Druid's own duty may have marked them unused), and seen to be used; then the new ones
// are marked unused by id; then what is visible must be exactly the old, and loaded. In
// between there is a moment in which Druid loads the old ones: it is measured.
//
// Every step can be done twice: a process that dies anywhere goes on where it was.
//
// Threads: values, and functions on a transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

enum class RollbackStep {
  kRevive,  // the old ones are being made used again
  kMark,    // the new ones are being marked unused
  kSettle,  // the old ones are to be visible and loaded
  kDone,
  kFailed,  // nothing more is done; the message says why
};
absl::string_view NameOf(RollbackStep step);

struct Rollback {
  std::string backfill_id;
  Interval partition;
  RollbackStep step = RollbackStep::kRevive;
  std::string message;
  std::string version;               // that goes
  std::vector<std::string> old_ids;  // come back; empty where nothing was there
  std::vector<std::string> new_ids;  // go: those of `version` that the proof names
  bool accept_foreign = false;       // … and what others added to it
  std::string requested_by, request_reason, request_id;
  std::string reservation_id;
  int64_t token = 0;
  std::optional<Instant> called;      // when a call that changes something was last sent
  std::optional<Instant> hole;        // when the new ones were marked
  std::optional<absl::Duration> gap;  // from then until the old ones were all loaded
};

inline bool IsOver(RollbackStep step) {
  return step == RollbackStep::kDone || step == RollbackStep::kFailed;
}

// Stores it anew; one of an earlier rollback of the partition is replaced.
absl::Status PutRollback(store::Transaction& tx, const Rollback& rollback);
// Of a backfill, by time.
absl::StatusOr<std::vector<Rollback>> ReadRollbacks(store::Transaction& tx,
                                                    const std::string& backfill_id);
// The partition shows what it showed before: its state, and its unit's where it is the last.
// What was done there is no longer so. `rows`: those that are visible now, where counted.
absl::Status RecordRolledBack(store::Transaction& tx, const Rollback& rollback,
                              const std::optional<int64_t>& rows);
// It went half-way: what the backfill wrote is marked unused, and what is visible is not what
// was before. SUSPECT, and no longer done: a person accepts it or has it written again.
absl::Status RecordRollbackFailed(store::Transaction& tx, const Rollback& rollback);
// How many of them are not over.
absl::StatusOr<int64_t> CountRollbacksAtWork(store::Transaction& tx,
                                             const std::string& backfill_id);

}  // namespace interlock::backfill
