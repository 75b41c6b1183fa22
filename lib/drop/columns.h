// Reads a row's columns one after the other; for lib/drop's own tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/store/store.h"

namespace interlock::drop {

// Takes the columns of a row one after the other, and remembers what it could not read.
class Columns {
 public:
  explicit Columns(const store::Row& row) : row_(row) {}

  std::string Text() { return row_.Text(at_++); }
  int64_t Int() { return row_.Int(at_++); }
  bool Flag() { return row_.Flag(at_++); }
  Instant At() { return row_.At(at_++); }
  std::optional<Instant> MaybeAt() { return row_.MaybeAt(at_++); }
  absl::Duration Length() { return absl::Milliseconds(Int()); }
  template <class T>
  T Decoded(std::optional<T> (*decode)(const std::string&), const char* what) {
    std::optional<T> value = decode(Text());
    if (!value) fault_ = what;
    return value.value_or(T());
  }
  template <class T>
  std::optional<T> MaybeDecoded(std::optional<T> (*decode)(const std::string&), const char* what) {
    if (!row_.IsNull(at_)) return Decoded(decode, what);
    ++at_;
    return std::nullopt;
  }
  template <class T>
  T Named(std::optional<T> (*named)(absl::string_view), const char* what) {
    const std::optional<T> value = named(Text());
    if (!value) fault_ = what;
    return value.value_or(T());
  }
  const std::string& fault() const { return fault_; }

 private:
  const store::Row& row_;
  size_t at_ = 0;
  std::string fault_;
};

}  // namespace interlock::drop
