// How far the store was, kept beside its database: PATH.mark.
//
// A database file that was copied while it was live, and put back later, looks like any
// other; only what it has lost, tokens that were handed out, could tell. So with each commit
// the newest number goes into a small file of its own, which such a copy leaves behind.
//
// Cost: one write into the page cache with each commit, which outlives the process however
// it ends; it is synced when the clock's mark moves, once a second at most. What power loss
// takes of it is made up for by a jump at the next start (sqlite_start.h).
//
// One line of text, well within a disk's sector, so that it is there whole or not at all:
//   interlock-mark 1 INCARNATION BOOT open|closed NEWEST MARK .
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/time/instant.h"

namespace interlock::store {

struct KnownPast {
  std::string incarnation;
  std::string boot_id;
  bool closed = false;  // in order: no commit came after
  int64_t newest = 0;   // of Schema::newest, all added
  Instant mark;         // of the store's clock
};

// Of one thread at a time.
class MarkFile {
 public:
  // Nothing where there is none, or it is no such file. STORE_UNAVAILABLE.
  static absl::StatusOr<std::optional<KnownPast>> Read(const std::string& path);

  // Makes the file, or takes over the one that is there; `now` is on the disk when this
  // returns, unless not `durable`.
  static absl::StatusOr<std::unique_ptr<MarkFile>> Open(const std::string& path, KnownPast now,
                                                        bool durable);
  // Says that the store was closed in order.
  ~MarkFile();
  MarkFile(const MarkFile&) = delete;
  MarkFile& operator=(const MarkFile&) = delete;

  // A commit is durable; with a new mark of the clock all so far is synced. An error is
  // STORE_COMMIT_UNKNOWN: it is there, but must not be acknowledged.
  absl::Status Note(int64_t newest, std::optional<Instant> mark);

 private:
  MarkFile(int descriptor, std::string path, KnownPast now, bool durable);
  absl::Status Write(bool sync);

  const int descriptor_;
  const std::string path_;
  const bool durable_;
  KnownPast now_;
};

}  // namespace interlock::store
