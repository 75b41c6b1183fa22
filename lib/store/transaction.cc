#include "lib/store/transaction.h"

#include <exception>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/store/store_errors.h"

namespace interlock::store {

absl::StatusOr<Rows> ConnectionTransaction::Query(const char* sql, Values values) {
  if (!failure_.ok()) return failure_;
  // Other statements give rows too: INSERT … RETURNING.
  wrote_ = wrote_ || !absl::StartsWith(sql, "SELECT");
  absl::StatusOr<Rows> rows = connection_.Query(sql, values);
  if (!rows.ok()) failure_ = rows.status();
  return rows;
}

absl::StatusOr<int64_t> ConnectionTransaction::Execute(const char* sql, Values values) {
  if (!failure_.ok()) return failure_;
  wrote_ = true;
  absl::StatusOr<int64_t> changed = access_ == Access::kRead
                                        ? absl::StatusOr<int64_t>(ReadOnlyTransaction())
                                        : connection_.Execute(sql, values);
  if (!changed.ok()) failure_ = changed.status();
  return changed;
}

absl::Status ReadTransaction::Lock(const std::string& /*name*/) {
  return Fail(ReadOnlyTransaction());
}

absl::Status ReadTransaction::Notify(const std::string& /*channel*/) {
  return Fail(ReadOnlyTransaction());
}

absl::Status WriteTransaction::Lock(const std::string& name) {
  if (!failure().ok()) return failure();
  if (held_.everything || held_.names.count(name) > 0) return absl::OkStatus();
  const absl::StatusOr<bool> locked = batch_.TryLock(name);
  if (!locked.ok()) return Fail(locked.status());
  if (!*locked) {
    wanted_ = name;
    return Fail(Conflict("a lock is another server's"));
  }
  held_.names.insert(name);
  return absl::OkStatus();
}

absl::Status WriteTransaction::Notify(const std::string& channel) {
  if (!failure().ok()) return failure();
  channels_.insert(channel);
  return absl::OkStatus();
}

absl::Status RunBody(const Store::Body& body, ConnectionTransaction& transaction) {
  absl::Status status;
  try {
    status = body(transaction);
  } catch (const std::exception& error) {
    status = absl::InternalError(absl::StrCat("exception in a transaction: ", error.what()));
  }
  return transaction.failure().ok() ? status : transaction.failure();
}

}  // namespace interlock::store
