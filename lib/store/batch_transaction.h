// What is an engine's own about the transaction in which a batch of writes is decided: how
// it begins, what it locks, what time it has, how it ends. Of one thread at a time.
#pragma once

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/connection.h"
#include "lib/time/instant.h"

namespace interlock::store {

// What a batch must hold before its bodies run.
struct LockSet {
  bool everything = false;  // some body named no locks: it follows every other write
  std::set<std::string> names;
};

class BatchTransaction {
 public:
  virtual ~BatchTransaction() = default;

  // Opens one, takes the locks in an order that is the same everywhere, and only then
  // reads the time. An error: none is open.
  virtual absl::Status Begin(const LockSet& locks) = 0;
  // One lock more, taken without waiting; the time is read anew. False where it can't be
  // had that way: begin again with it in the set.
  virtual absl::StatusOr<bool> TryLock(const std::string& name) = 0;

  // Of the open transaction. The connection can be another one after Begin.
  virtual Connection& connection() = 0;
  virtual Instant now() const = 0;

  // Whether others write to the database as well.
  virtual bool shared() const = 0;

  // Ends it. OK: all is durable, and who listens on `channels` is woken. `changed` is false
  // where bodies were only refused. A StoreFailure or CommitUnknown: see there; Conflict:
  // nothing was committed, the same batch may fare better.
  virtual absl::Status Commit(bool changed, const std::set<std::string>& channels) = 0;
  // Ends it; no harm where the engine has done so already.
  virtual void Rollback() = 0;
};

}  // namespace interlock::store
