// The errors of lib/store. Each has a stable reason (lib/time/reason.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interlock::store {

// UNAVAILABLE, STORE_UNAVAILABLE: the database can't do its work (full disk, read-only
// file, I/O error, gone). Nothing was acknowledged.
absl::Status StoreUnavailable(absl::string_view why);
// DATA_LOSS, STORE_CORRUPT: a page that can't be what was written. No retry helps.
absl::Status StoreCorrupt(absl::string_view why);
bool IsStoreCorrupt(const absl::Status& status);
// UNKNOWN, STORE_COMMIT_UNKNOWN: the answer of a commit was lost, and could not be found
// out. It may be there or not: ask again by the same request id.
absl::Status CommitUnknown(absl::string_view why);
// ABORTED, STORE_CONFLICT: nothing was committed, for what another server did at the same
// time or since the connection was lost; the same again may succeed. Not seen by callers.
absl::Status Conflict(absl::string_view why);
bool IsConflict(const absl::Status& status);
// Unavailable, corrupt, or the commit unknown: the database failed, not what was asked of it.
bool IsStoreFailure(const absl::Status& status);
// RESOURCE_EXHAUSTED, STORE_QUEUE_FULL, with a time to wait.
absl::Status StoreQueueFull(size_t limit);
// UNAVAILABLE, STORE_CLOSED: the process is going down.
absl::Status StoreClosed();
// FAILED_PRECONDITION, READ_ONLY_TRANSACTION
absl::Status ReadOnlyTransaction();
// ABORTED, STORE_CONSTRAINT: a row that the schema forbids.
absl::Status ConstraintViolated(absl::string_view why);
bool IsConstraintViolated(const absl::Status& status);
// INTERNAL, STORE_STATEMENT: SQL that the database does not take; our fault.
absl::Status BadStatement(absl::string_view why);
// FAILED_PRECONDITION, STORE_IN_USE: another process has the file open.
absl::Status StoreInUse(absl::string_view path, absl::string_view owner);
// FAILED_PRECONDITION, STORE_NEWER_SCHEMA: a later program has written it.
absl::Status NewerSchema(absl::string_view module, int64_t found, int64_t known);
// INTERNAL, STORE_MIGRATION
absl::Status MigrationFailed(absl::string_view module, int64_t version, absl::string_view why);
// INVALID_ARGUMENT, STORE_CONNECTION_STRING: never quotes it.
absl::Status BadConnectionString(absl::string_view why);
// FAILED_PRECONDITION, STORE_UNFIT: a database that can't be used as a store.
absl::Status UnfitDatabase(absl::string_view why);
// ALREADY_EXISTS, STORE_FILE_EXISTS: a backup or a restore never writes over a file.
absl::Status FileExists(absl::string_view path);
// FAILED_PRECONDITION, STORE_NOT_A_BACKUP
absl::Status NotABackup(absl::string_view path);

}  // namespace interlock::store
