#include "lib/store/store_errors.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::store {
namespace {

constexpr char kUnavailable[] = "STORE_UNAVAILABLE";
constexpr char kCorrupt[] = "STORE_CORRUPT";
constexpr char kCommitUnknown[] = "STORE_COMMIT_UNKNOWN";
constexpr char kConflict[] = "STORE_CONFLICT";
constexpr char kConstraint[] = "STORE_CONSTRAINT";
// A full queue drains at thousands of commits a second.
constexpr std::chrono::milliseconds kQueueFullDelay(100);

}  // namespace

absl::Status StoreUnavailable(absl::string_view why) {
  return WithReason(absl::UnavailableError(absl::StrCat("the store is not available: ", why)),
                    kUnavailable);
}

absl::Status StoreCorrupt(absl::string_view why) {
  return WithReason(
      absl::DataLossError(absl::StrCat("the store is damaged, restore a backup: ", why)), kCorrupt);
}

bool IsStoreCorrupt(const absl::Status& status) { return ReasonOf(status) == kCorrupt; }

bool IsStoreFailure(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == kUnavailable || reason == kCommitUnknown || reason == kCorrupt;
}

absl::Status CommitUnknown(absl::string_view why) {
  return WithReason(
      absl::UnknownError(absl::StrCat("the store's answer to a commit was lost, what it did is not"
                                      " known: ask again with the same request id: ",
                                      why)),
      kCommitUnknown);
}

absl::Status Conflict(absl::string_view why) {
  return WithReason(absl::AbortedError(why), kConflict);
}

bool IsConflict(const absl::Status& status) { return ReasonOf(status) == kConflict; }

absl::Status StoreQueueFull(size_t limit) {
  return WithRetryAfter(WithReason(absl::ResourceExhaustedError(absl::StrCat(
                                       limit, " writes wait for the store already: try again")),
                                   "STORE_QUEUE_FULL", {{"limit", absl::StrCat(limit)}}),
                        kQueueFullDelay);
}

absl::Status StoreClosed() {
  return WithReason(absl::UnavailableError("the store is closed: the server is going down"),
                    "STORE_CLOSED");
}

absl::Status ReadOnlyTransaction() {
  return WithReason(absl::FailedPreconditionError("a read may not change anything"),
                    "READ_ONLY_TRANSACTION");
}

absl::Status ConstraintViolated(absl::string_view why) {
  return WithReason(absl::AbortedError(why), kConstraint);
}

bool IsConstraintViolated(const absl::Status& status) { return ReasonOf(status) == kConstraint; }

absl::Status BadStatement(absl::string_view why) {
  return WithReason(absl::InternalError(why), "STORE_STATEMENT");
}

absl::Status StoreInUse(absl::string_view path, absl::string_view owner) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(path, " is open in another process (", owner,
                                                 "): stop that one, or give this one a file of its "
                                                 "own; several servers share PostgreSQL")),
      "STORE_IN_USE", {{"path", std::string(path)}, {"owner", std::string(owner)}});
}

absl::Status NewerSchema(absl::string_view module, int64_t found, int64_t known) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "the store was written by a later version: its schema of ", module, " is at ", found,
          ", this program knows ", known, ": start the later program, or restore a backup")),
      "STORE_NEWER_SCHEMA",
      {{"module", std::string(module)},
       {"found", absl::StrCat(found)},
       {"known", absl::StrCat(known)}});
}

absl::Status MigrationFailed(absl::string_view module, int64_t version, absl::string_view why) {
  return WithReason(absl::InternalError(absl::StrCat("step ", version, " of the schema of ", module,
                                                     " failed, nothing was changed: ", why)),
                    "STORE_MIGRATION");
}

absl::Status BadConnectionString(absl::string_view why) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "the connection string of PostgreSQL is not one: ", why,
                        "; it is like `host=db.example dbname=interlock user=interlock`")),
                    "STORE_CONNECTION_STRING");
}

absl::Status UnfitDatabase(absl::string_view why) {
  return WithReason(absl::FailedPreconditionError(why), "STORE_UNFIT");
}

absl::Status FileExists(absl::string_view path) {
  return WithReason(
      absl::AlreadyExistsError(absl::StrCat(path, " exists: name a file that does not")),
      "STORE_FILE_EXISTS", {{"path", std::string(path)}});
}

absl::Status NotABackup(absl::string_view path) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          path,
          " was not written by a backup: a copy of a store's own file would hand out the"
          " same ids and tokens again")),
      "STORE_NOT_A_BACKUP", {{"path", std::string(path)}});
}

}  // namespace interlock::store
