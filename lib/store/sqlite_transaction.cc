#include "lib/store/sqlite_transaction.h"

#include <optional>

#include "lib/store/facts.h"
#include "lib/store/sqlite_start.h"

namespace interlock::store {

absl::Status SqliteTransaction::Begin(const LockSet& /*locks*/) {
  absl::Status status = connection_.Execute("BEGIN IMMEDIATE", {}).status();
  if (!status.ok()) return status;
  // After the lock is ours: what others decided before is in the past of this.
  clock_.Watch();
  now_ = clock_.Now();
  return absl::OkStatus();
}

absl::StatusOr<bool> SqliteTransaction::TryLock(const std::string& /*name*/) { return true; }

absl::Status SqliteTransaction::Commit(bool changed, const std::set<std::string>& channels) {
  const std::optional<ClockFacts> mark = clock_.MarkFor(now_);
  // With refusals alone there is nothing to make durable; but for the time they went by: a
  // caller was told that its lease has expired.
  if (!changed && !mark.has_value()) return connection_.Execute("ROLLBACK", {}).status();
  absl::Status status;
  if (mark.has_value()) status = WriteClock(connection_, *mark);
  const absl::StatusOr<int64_t> newest = ReadNewest(connection_, beside_.newest);
  if (status.ok()) status = newest.status();
  if (status.ok()) status = connection_.Execute("COMMIT", {}).status();
  if (!status.ok()) return status;
  if (mark.has_value()) clock_.Stored(*mark);
  // After the commit, or a crash between the two would look like a file put back; before
  // anybody hears of it, or a token could be out that nothing remembers.
  status = beside_.file.Note(*newest, mark ? std::optional<Instant>(mark->mark) : std::nullopt);
  if (!status.ok()) return status;
  for (const std::string& channel : channels) listeners_.Wake(channel);
  return status;
}

void SqliteTransaction::Rollback() { connection_.Execute("ROLLBACK", {}).IgnoreError(); }

}  // namespace interlock::store
