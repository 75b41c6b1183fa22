// The store: one narrow door to the database, the same over SQLite and PostgreSQL.
//
// Guarantee: a write body's effects are all there or not at all, and `done` is called
// with OK only after the commit is durable. Bodies that wait together are committed
// together (group commit); one body's refusal does not undo its neighbours'. They run bare
// at first: only where one fails after it has changed something is the batch begun anew,
// with a savepoint around each.
//
// So a body can be run again, in its batch or alone: it may touch nothing but its
// transaction and results that it assigns afresh.
//
// Several servers may share a database (PostgreSQL). A write that names no locks follows
// every other write, of whichever server, as on SQLite; one that names its locks runs
// beside those that lock something else.
//
// Threads: all functions can be called from any thread. Bodies of one store's writes run
// one at a time; bodies of reads run beside them on a snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lib/time/instant.h"

namespace interlock::store {

// What a column holds: nothing, a whole number (instants are milliseconds, booleans 0
// or 1), or text.
class Value {
 public:
  Value() = default;
  Value(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  Value(int64_t number) : kind_(Kind::kNumber), number_(number) {}         // NOLINT
  Value(int number) : Value(int64_t{number}) {}                            // NOLINT
  Value(bool flag) : Value(int64_t{flag}) {}                               // NOLINT
  Value(Instant instant) : Value(instant.millis()) {}                      // NOLINT
  Value(std::string text) : kind_(Kind::kText), text_(std::move(text)) {}  // NOLINT
  Value(const char* text) : Value(std::string(text)) {}                    // NOLINT
  Value(std::optional<Instant> instant) {                                  // NOLINT
    if (instant) *this = Value(*instant);
  }

  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_text() const { return kind_ == Kind::kText; }
  // 0 for NULL; the number that a text spells (results can come as text).
  int64_t Int() const;
  // "" for NULL; a number's digits.
  std::string Text() const;
  // Null where it is no text.
  const std::string* AsText() const { return is_text() ? &text_ : nullptr; }

 private:
  // Not a std::variant: g++ 12 warns of its destructor wherever it is inlined (-O3).
  enum class Kind { kNull, kNumber, kText };
  Kind kind_ = Kind::kNull;
  int64_t number_ = 0;
  std::string text_;
};

// One row of a result, by column position.
class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}
  size_t size() const { return values_.size(); }
  bool IsNull(size_t column) const { return values_[column].is_null(); }
  int64_t Int(size_t column) const { return values_[column].Int(); }
  bool Flag(size_t column) const { return Int(column) != 0; }
  std::string Text(size_t column) const { return values_[column].Text(); }
  Instant At(size_t column) const { return Instant::FromMillis(Int(column)); }
  std::optional<Instant> MaybeAt(size_t column) const {
    return IsNull(column) ? std::nullopt : std::optional<Instant>(At(column));
  }

 private:
  std::vector<Value> values_;
};

using Rows = std::vector<Row>;
// A list in braces, or a vector.
using Values = absl::Span<const Value>;

class Transaction {
 public:
  virtual ~Transaction() = default;

  // A statement that fails fails its body, whatever the body returns, and every statement
  // after it in that body: STORE_CONSTRAINT, STORE_STATEMENT, READ_ONLY_TRANSACTION, or a
  // failure of the database (store_errors.h).

  // Runs one statement with `values` bound to its `:name` parameters in the order in
  // which these appear (a name that appears twice is bound twice). `sql` must be a
  // literal: statements are prepared once and kept by address and text. A SELECT may end
  // in {{for_update}}, which on PostgreSQL holds the rows until the end of the transaction
  // (SQLite's writer is alone anyway).
  virtual absl::StatusOr<Rows> Query(const char* sql, Values values) = 0;
  // The same for statements without a result; gives the number of rows changed.
  virtual absl::StatusOr<int64_t> Execute(const char* sql, Values values) = 0;

  // Of two transactions that lock one name, on whichever servers, the later one begins
  // its decision after the former has ended, and sees all that it did. Call it before
  // reading what it protects; now() is read anew where the lock was not held already.
  // Costs least where the write named it (WriteLockedAsync).
  virtual absl::Status Lock(const std::string& name) = 0;

  // Once this is committed, wakes those who listen on `channel` (Store::Listen), also in
  // other servers. Never more than a hint: wakes get lost where a connection is.
  virtual absl::Status Notify(const std::string& channel) = 0;

  // The store's clock, read once per transaction, after its locks were taken. The only
  // time that decides about deadlines.
  virtual Instant now() const = 0;
};

// While it lives its callback is called.
class Listening {
 public:
  virtual ~Listening() = default;
};

// What people want to know of a store.
struct StoreNotice {
  std::string reason;  // UPPER_SNAKE
  std::string message;
};
struct StoreDescription {
  std::string engine;  // "sqlite", "postgresql"
  // Whether a standby confirms each commit; nothing where that can't be seen, or where
  // there is no such thing.
  std::optional<bool> synchronous;
  std::vector<StoreNotice> notices;
};

class Store {
 public:
  using Body = std::function<absl::Status(Transaction&)>;
  using Done = std::function<void(const absl::Status&)>;

  virtual ~Store() = default;

  // Queues `body` for the next commit. `done` runs on the store's thread: keep it short.
  // Errors: what the body returned (its effects undone); UNAVAILABLE with reason
  // STORE_UNAVAILABLE when the database cannot commit (full disk, read-only, gone);
  // RESOURCE_EXHAUSTED with STORE_QUEUE_FULL when too much waits.
  // STORE_COMMIT_UNKNOWN (code UNKNOWN) where the commit's answer was lost and could not be
  // found out: it may be there or not.
  virtual void WriteAsync(Body body, Done done) = 0;
  // The same for a body that reads what it then changes only under these locks and those
  // that it takes by Transaction::Lock.
  virtual void WriteLockedAsync(std::vector<std::string> locks, Body body, Done done) = 0;
  // The same, waiting for the commit. Never call it from a `done` or a body.
  absl::Status Write(Body body);
  absl::Status WriteLocked(std::vector<std::string> locks, Body body);
  // Runs `body` on a snapshot; its transaction refuses to change anything.
  virtual absl::Status Read(const Body& body) = 0;

  // Calls `wake` after commits that notified `channel`, on a thread of the store's: keep it
  // short, and neither write nor listen in it. Some wakes come without cause; where some
  // may have been lost it is called too. Look by yourself now and then all the same.
  virtual std::unique_ptr<Listening> Listen(const std::string& channel,
                                            std::function<void()> wake) = 0;

  // The store's clock outside of a transaction, for displays and schedules only.
  virtual Instant Now() const = 0;
  // A random id made with the store, and again at each restore from a backup; part of
  // every pinned task id, so that two stores never make the same one.
  virtual const std::string& incarnation() const = 0;
  // OK while commits succeed; else why the last one did not.
  virtual absl::Status Health() const = 0;
  // Jumps since the start of the clock that the store's is checked with, and one at the
  // start where there was one.
  virtual int64_t clock_jumps() const = 0;
  virtual StoreDescription Describe() const = 0;
};

}  // namespace interlock::store
