#include "lib/time/period.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/time/scanner.h"
#include "lib/time/time_errors.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

// Of a field, those behind a point included; more are refused. As in Joda a plus sign
// makes room for one more.
constexpr int kMaxFieldDigits = 10;
constexpr int64_t kMonthsPerYear = 12;
// No calendar step is longer than eternity, which has fewer months than this.
constexpr int64_t kMaxMonths = 4'000'000'000;

// Letters of the fields in their order, years first; lower indices before `T`.
constexpr absl::string_view kLetters = "YMWDHMS";
constexpr size_t kFirstOfTime = 4;
constexpr size_t kSeconds = 6;
constexpr size_t kMillis = 7;
using Values = std::array<int, kMillis + 1>;

bool FitsInt(int64_t value) {
  return value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
}

struct Number {
  int whole = 0;
  int millis = 0;
  bool has_point = false;
};

// The digits after a second's point; from the fourth on they are cut off.
int ReadMillis(Scanner& in, int max_digits) {
  int millis = 0;
  for (int unit = 100; in.PeekDigit() && max_digits > 0; unit /= 10, --max_digits) {
    millis += in.TakeDigit() * unit;
  }
  return millis;
}

// A sign, digits, and with `fraction` a point and digits, at most kMaxFieldDigits in all.
// `1.` is a number and `.5` is one, but `-.5` is none, as in Joda.
std::optional<Number> ReadNumber(Scanner& in, bool fraction) {
  const int sign = in.Peek() == '-' ? -1 : 1;
  const Scanner::Mark start = in.mark() + (in.PeekDigit() ? 0 : 1);
  const int max_digits = kMaxFieldDigits + (in.Peek() == '+' ? 1 : 0);
  const std::optional<int64_t> whole = in.SignedNumber(max_digits);
  const int digits = whole ? static_cast<int>(in.mark() - start) : 0;
  if (whole && !FitsInt(*whole)) return std::nullopt;
  Number number;
  number.whole = static_cast<int>(whole.value_or(0));
  number.has_point = fraction && (in.Take('.') || in.Take(','));
  if (!whole && !(number.has_point && in.PeekDigit())) return std::nullopt;
  if (number.has_point) number.millis = sign * ReadMillis(in, max_digits - digits);
  return number;
}

// The fields of `letters[from, to)` in their order, each at most once.
bool ReadFields(Scanner& in, size_t from, size_t to, Values& values) {
  while (!in.AtEnd() && !(to == kFirstOfTime && in.PeekLetter('T'))) {
    const std::optional<Number> number = ReadNumber(in, to > kFirstOfTime);
    if (!number) return false;
    while (from < to && !in.PeekLetter(kLetters[from])) ++from;
    if (from == to || (number->has_point && from != kSeconds)) return false;
    in.TakeLetter(kLetters[from]);
    values[from++] = number->whole;
    if (number->has_point) values[kMillis] = number->millis;
  }
  return true;
}

int64_t ClampToEternity(absl::int128 millis) {
  return static_cast<int64_t>(std::clamp(millis, absl::int128(Instant::kMin.millis()),
                                         absl::int128(Instant::kMax.millis())));
}

// One field of fixed length on the wall clock.
Instant AddLocal(Instant instant, const absl::TimeZone& zone, int64_t unit, int64_t count) {
  if (unit == 0 || count == 0) return instant;
  const absl::int128 local = absl::int128(LocalOf(instant, zone)) + absl::int128(unit) * count;
  return Resolve(ClampToEternity(local), zone);
}

// One field of fixed length in elapsed time.
Instant AddElapsed(Instant instant, int64_t unit, int64_t count) {
  return Instant::FromMillis(
      ClampToEternity(absl::int128(instant.millis()) + absl::int128(unit) * count));
}

Instant AddCalendarMonths(Instant instant, const absl::TimeZone& zone, absl::int128 months) {
  if (months == 0) return instant;
  const int64_t count =
      static_cast<int64_t>(std::clamp(months, absl::int128(-kMaxMonths), absl::int128(kMaxMonths)));
  const int64_t local = LocalOf(instant, zone);
  const int64_t month = MonthOf(local) + count;
  if (month >= MonthOf(Instant::kMax.millis())) return Instant::kMax;
  if (month <= MonthOf(Instant::kMin.millis())) return Instant::kMin;
  return Resolve(AddMonths(local, count), zone);
}

}  // namespace

// A lone `P` is the empty period; but after a `T` there must be something.
absl::StatusOr<Period> Period::Parse(absl::string_view text) {
  Scanner in(text);
  Values v{};
  bool read = in.TakeLetter('P') && ReadFields(in, 0, kFirstOfTime, v);
  if (read && in.TakeLetter('T')) {
    read = !in.AtEnd() && ReadFields(in, kFirstOfTime, kMillis, v);
  }
  if (!read) return MalformedPeriod(text, in.position());
  Period p;
  int Period::*const members[] = {&Period::years_,   &Period::months_, &Period::weeks_,
                                  &Period::days_,    &Period::hours_,  &Period::minutes_,
                                  &Period::seconds_, &Period::millis_};
  for (size_t i = 0; i < v.size(); ++i) p.*members[i] = v[i];
  return p;
}

Instant Period::AddTo(Instant instant, const absl::TimeZone& zone, int64_t times) const {
  instant = AddCalendarMonths(instant, zone, absl::int128(years_) * kMonthsPerYear * times);
  instant = AddCalendarMonths(instant, zone, absl::int128(months_) * times);
  instant = AddLocal(instant, zone, kMillisPerWeek * weeks_, times);
  instant = AddLocal(instant, zone, kMillisPerDay * days_, times);
  instant = AddElapsed(instant, kMillisPerHour * hours_, times);
  instant = AddElapsed(instant, kMillisPerMinute * minutes_, times);
  instant = AddElapsed(instant, kMillisPerSecond * seconds_, times);
  return AddElapsed(instant, millis_, times);
}

std::optional<int64_t> Period::FixedMillis() const {
  if (years_ != 0 || months_ != 0) return std::nullopt;
  return weeks_ * kMillisPerWeek + days_ * kMillisPerDay + hours_ * kMillisPerHour +
         minutes_ * kMillisPerMinute + seconds_ * kMillisPerSecond + millis_;
}

std::string Period::ToString() const {
  std::string date, time;
  const auto append = [](std::string& out, int value, absl::string_view letter) {
    if (value != 0) absl::StrAppend(&out, value, letter);
  };
  append(date, years_, "Y");
  append(date, months_, "M");
  append(date, weeks_, "W");
  append(date, days_, "D");
  append(time, hours_, "H");
  append(time, minutes_, "M");
  const int64_t total = seconds_ * kMillisPerSecond + millis_;
  if (total != 0) {
    absl::StrAppend(&time, total < 0 ? "-" : "", std::abs(total) / kMillisPerSecond);
    const int64_t millis = std::abs(total) % kMillisPerSecond;
    if (millis != 0) absl::StrAppendFormat(&time, ".%03d", millis);
    absl::StrAppend(&time, "S");
  }
  if (date.empty() && time.empty()) return "PT0S";
  return absl::StrCat("P", date, time.empty() ? "" : "T", time);
}

}  // namespace interlock
