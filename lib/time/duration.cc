#include "lib/time/duration.h"

#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/time/period.h"
#include "lib/time/scanner.h"
#include "lib/time/time_errors.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

constexpr int kMaxDigits = 12;         // 10^12 weeks stay below absl's 2^63 seconds
constexpr int kMaxFractionDigits = 9;  // beyond a nanosecond nothing is kept

struct Unit {
  absl::string_view name;
  int64_t millis;
};

constexpr Unit kUnits[] = {{"w", kMillisPerWeek},   {"d", kMillisPerDay},    {"h", kMillisPerHour},
                           {"m", kMillisPerMinute}, {"s", kMillisPerSecond}, {"ms", 1}};

// Digits and perhaps a fraction, in parts of 1 / `scale`.
struct Number {
  int64_t whole = 0;
  int64_t parts = 0;
  int64_t scale = 1;
};

std::optional<Number> ReadNumber(Scanner& in) {
  Number number;
  const std::optional<int64_t> whole = in.LongNumber(kMaxDigits);
  if (!whole) return std::nullopt;
  number.whole = *whole;
  if (!in.Take('.')) return number;
  if (!in.PeekDigit()) return std::nullopt;
  for (int i = 0; i < kMaxFractionDigits && in.PeekDigit(); ++i) {
    number.parts = number.parts * 10 + in.TakeDigit();
    number.scale *= 10;
  }
  return number;
}

const Unit* ReadUnit(Scanner& in, absl::string_view text, const Unit* from) {
  const Scanner::Mark start = in.mark();
  while (absl::ascii_isalpha(in.Peek())) in.Take(in.Peek());
  const absl::string_view name = text.substr(start, in.mark() - start);
  for (; from != std::end(kUnits); ++from) {
    if (from->name == name) return from;
  }
  return nullptr;
}

absl::Duration Times(const Number& number, const Unit& unit) {
  const absl::Duration one = absl::Milliseconds(unit.millis);
  return one * number.whole + one * number.parts / number.scale;
}

// `.25` for a quarter of a millisecond, nothing for none.
std::string BelowMillis(absl::Duration rest) {
  const int64_t nanos = absl::ToInt64Nanoseconds(rest);
  if (nanos == 0) return "";
  const std::string digits = absl::StrFormat(".%06d", nanos);
  return digits.substr(0, digits.find_last_not_of('0') + 1);
}

absl::StatusOr<absl::Duration> ParsePeriod(absl::string_view text) {
  const absl::StatusOr<Period> period = Period::Parse(text);
  if (!period.ok() || !period->FixedMillis()) return MalformedDuration(text);
  return absl::Milliseconds(*period->FixedMillis());
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  if (text == "0") return absl::ZeroDuration();
  Scanner in(text);
  if (in.PeekLetter('P')) return ParsePeriod(text);
  const bool negative = in.Take('-');
  if (!negative) in.Take('+');
  absl::Duration sum;
  const Unit* smallest = std::begin(kUnits);
  do {
    const std::optional<Number> number = ReadNumber(in);
    if (!number) return MalformedDuration(text);
    const Unit* unit = ReadUnit(in, text, smallest);
    if (unit == nullptr) return MalformedDuration(text);
    sum += Times(*number, *unit);
    smallest = unit + 1;
  } while (!in.AtEnd());
  return negative ? -sum : sum;
}

std::string FormatDuration(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "inf";
  if (duration == -absl::InfiniteDuration()) return "-inf";
  std::string out = duration < absl::ZeroDuration() ? "-" : "";
  absl::Duration rest = absl::AbsDuration(duration);
  for (const Unit& unit : kUnits) {
    if (unit.name == "w") continue;  // 14d says more than 2w to who set a floor in days
    const int64_t count = absl::IDivDuration(rest, absl::Milliseconds(unit.millis), &rest);
    const std::string parts = unit.millis == 1 ? BelowMillis(rest) : "";
    if (count != 0 || !parts.empty()) absl::StrAppend(&out, count, parts, unit.name);
  }
  return out.empty() || out == "-" ? "0s" : out;
}

}  // namespace interlock
