// The store in a SQLite file: the default, for one server.
//
// Guarantee: what was acknowledged is on the disk (write-ahead log, synchronous=FULL). One
// process at a time has the file; a second one is refused with STORE_IN_USE.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/group_commit.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::store {

struct SqliteOptions {
  // The file, made where there is none; its folder must be there. Beside it stand
  // PATH-wal, PATH-shm, PATH.lock and PATH.mark (mark_file.h).
  std::string path;
  // The tables of every module, in the order in which they are made. The store's own come
  // first by themselves.
  std::vector<Schema> schemas;
  // False only in tests: commits don't wait for the disk.
  bool durable = true;
  // As in GroupCommit::Options.
  size_t largest_batch = 512;
  size_t most_waiting = 20000;
  std::function<void(const BatchReport&)> on_batch;
  // The wall clock moved by so much against the store's: nothing changes by that, but
  // people want to know. On the store's thread.
  std::function<void(absl::Duration)> on_clock_jump;
  // While it is opened: that it is a restored one. Also in Describe, as long as it is open.
  std::function<void(const StoreNotice&)> on_notice = nullptr;
};

class SqliteStore : public Store {
 public:
  // Copies the store, as of now, into `to`, which must not exist; reads and writes go on.
  // The copy is complete and on the disk when this returns. Opened as a store it is a
  // restored one: with another incarnation, and fencing tokens above any handed out.
  virtual absl::Status Backup(const std::string& to) = 0;
};

// Opens or makes the file, brings its schema up, reads its clock. `clock` must outlive the
// store. A file that is a backup, or an older copy of itself put back, goes on as a restored
// one. Errors: STORE_IN_USE, STORE_NEWER_SCHEMA, STORE_MIGRATION, STORE_CORRUPT,
// STORE_UNAVAILABLE.
absl::StatusOr<std::unique_ptr<SqliteStore>> OpenSqlite(SqliteOptions options, const Clock& clock);

// A store in a fresh folder of its own that goes with it; not durable. For tests.
absl::StatusOr<std::unique_ptr<SqliteStore>> OpenTemporarySqlite(std::vector<Schema> schemas,
                                                                 const Clock& clock);

// Brings the schema up and closes again (`interlockd --migrate`).
absl::Status MigrateSqlite(SqliteOptions options, const Clock& clock);

// Backup of a store that another process has open, or none (`interlockd --backup`).
absl::Status BackupSqlite(const std::string& path, const std::string& to);

// Puts a backup in place as the file of a store; `path` must not exist. The same as
// copying it there by hand.
absl::Status RestoreSqlite(const std::string& backup, const std::string& path);

}  // namespace interlock::store
