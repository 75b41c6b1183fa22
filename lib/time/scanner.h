// Reads digits and letters off the front of a text, for lib/time's parsers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace interlock {

class Scanner {
 public:
  using Mark = size_t;

  explicit Scanner(absl::string_view text) : text_(text) {}

  Mark mark() const { return at_; }
  void Reset(Mark mark) { at_ = mark; }
  size_t position() const { return at_; }
  bool AtEnd() const { return at_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool PeekDigit() const { return absl::ascii_isdigit(Peek()); }
  // Letters are read in either case; `upper` is given in upper case.
  bool PeekLetter(char upper) const { return !AtEnd() && absl::ascii_toupper(Peek()) == upper; }

  bool Take(char wanted) {
    if (AtEnd() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool TakeLetter(char upper) {
    if (!PeekLetter(upper)) return false;
    ++at_;
    return true;
  }

  // Only where PeekDigit() holds.
  int TakeDigit() { return text_[at_++] - '0'; }

  // One to `max_digits` digits (at most 18).
  std::optional<int64_t> LongNumber(int max_digits) {
    if (!PeekDigit()) return std::nullopt;
    int64_t value = 0;
    for (int i = 0; i < max_digits && PeekDigit(); ++i) value = value * 10 + TakeDigit();
    return value;
  }

  std::optional<int> Number(int max_digits) {
    const std::optional<int64_t> value = LongNumber(max_digits);
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  }

  std::optional<int> ExactNumber(int digits) {
    const Mark start = at_;
    const std::optional<int> value = Number(digits);
    if (value && at_ - start == static_cast<size_t>(digits)) return value;
    at_ = start;
    return std::nullopt;
  }

  // The same with a sign before it.
  std::optional<int64_t> SignedNumber(int max_digits) {
    const Mark start = at_;
    const bool negative = Take('-');
    if (!negative) Take('+');
    const std::optional<int64_t> value = LongNumber(max_digits);
    if (!value) {
      at_ = start;
      return std::nullopt;
    }
    return negative ? -*value : *value;
  }

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace interlock
