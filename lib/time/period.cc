#include "lib/time/period.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/time/scanner.h"
#include "lib/time/time_errors.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

constexpr int kMaxFieldDigits = 10;
constexpr int64_t kMonthsPerYear = 12;
// No calendar step is longer than eternity, which has fewer months than this.
constexpr int64_t kMaxMonths = 4'000'000'000;

bool FitsInt(int64_t value) {
  return value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
}

// The digits after a second's point as milliseconds: `.5` is 500, further ones are cut off.
int64_t ReadMillis(Scanner& in) {
  int64_t millis = 0;
  for (int64_t unit = 100; in.PeekDigit(); unit /= 10) millis += in.TakeDigit() * unit;
  return millis;
}

int64_t ClampToEternity(absl::int128 millis) {
  return static_cast<int64_t>(std::clamp(millis, absl::int128(Instant::kMin.millis()),
                                         absl::int128(Instant::kMax.millis())));
}

// One field of fixed length on the wall clock.
Instant AddLocal(Instant instant, const absl::TimeZone& zone, int64_t unit, int64_t count) {
  if (count == 0) return instant;
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

absl::StatusOr<Period> Period::Parse(absl::string_view text) {
  struct Field {
    char letter;
    int Period::*member;
  };
  static constexpr Field kDate[] = {{'Y', &Period::years_},
                                    {'M', &Period::months_},
                                    {'W', &Period::weeks_},
                                    {'D', &Period::days_}};
  static constexpr Field kTime[] = {
      {'H', &Period::hours_}, {'M', &Period::minutes_}, {'S', &Period::seconds_}};
  Scanner in(text);
  if (!in.TakeLetter('P')) return MalformedPeriod(text, 0);
  Period period;
  bool any = false, in_time = false;
  const Field* next = std::begin(kDate);
  const Field* end = std::end(kDate);
  while (!in.AtEnd()) {
    if (!in_time && in.TakeLetter('T')) {
      in_time = true;
      next = std::begin(kTime);
      end = std::end(kTime);
      if (in.AtEnd()) return MalformedPeriod(text, in.position());
      continue;
    }
    const Scanner::Mark start = in.mark();
    const bool negative = in.Peek() == '-';
    const std::optional<int64_t> number = in.SignedNumber(kMaxFieldDigits);
    if (!number || !FitsInt(*number)) return MalformedPeriod(text, start);
    const bool point = in_time && (in.Take('.') || in.Take(','));
    if (point) {
      const int64_t millis = ReadMillis(in);
      period.millis_ = static_cast<int>(negative ? -millis : millis);
    }
    while (next != end && !(in.PeekLetter(next->letter) && (!point || next->letter == 'S'))) ++next;
    if (next == end || !in.TakeLetter(next->letter)) return MalformedPeriod(text, in.position());
    period.*(next->member) = static_cast<int>(*number);
    ++next;
    any = true;
  }
  if (!any) return MalformedPeriod(text, in.position());
  return period;
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
