// The store: one narrow door to the database, the same over SQLite and PostgreSQL.
//
// Guarantee: a write body's effects are all there or not at all, and `done` is called
// with OK only after the commit is durable. Bodies that wait together are committed
// together (group commit), each in a savepoint of its own, so that one body's refusal
// does not undo its neighbours'.
//
// A body can be run again (a batch that failed is retried one by one), so it may touch
// nothing but its transaction and results that it assigns afresh.
//
// Threads: all functions can be called from any thread. Bodies of writes run one at a
// time; bodies of reads run beside them on a snapshot.
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

  // The store's clock, read once per transaction, after its lock was taken. The only
  // time that decides about deadlines.
  virtual Instant now() const = 0;
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
  virtual void WriteAsync(Body body, Done done) = 0;
  // The same, waiting for the commit. Never call it from a `done` or a body.
  absl::Status Write(Body body);
  // Runs `body` on a snapshot; its transaction refuses to change anything.
  virtual absl::Status Read(const Body& body) = 0;

  // The store's clock outside of a transaction, for displays and schedules only.
  virtual Instant Now() const = 0;
  // A random id made with the store, and again at each restore from a backup; part of
  // every pinned task id, so that two stores never make the same one.
  virtual const std::string& incarnation() const = 0;
  // OK while commits succeed; else why the last one did not.
  virtual absl::Status Health() const = 0;
};

}  // namespace interlock::store
