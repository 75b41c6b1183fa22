#include "lib/time/iso8601.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/time/civil_time.h"
#include "lib/time/scanner.h"
#include "lib/time/time_errors.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

constexpr int kMaxYearDigits = 9;
// Beyond these 64 bits of milliseconds do not reach.
constexpr int64_t kFirstYear = -292275054;
constexpr int64_t kLastYear = 292278993;
constexpr int kMaxFractionDigits = 9;

// What a date element says, before it is known whether there is such a day.
struct DateFields {
  int64_t year = 1970;
  std::optional<int> month, day, day_of_year, week, day_of_week;
};

bool ReadStandardDate(Scanner& in, DateFields& date) {
  const Scanner::Mark start = in.mark();
  if (!in.Take('-')) return true;
  date.month = in.Number(2);
  if (!date.month) {
    in.Reset(start);
    return true;
  }
  const Scanner::Mark after_month = in.mark();
  if (in.Take('-') && !(date.day = in.Number(2))) in.Reset(after_month);
  return true;
}

bool ReadWeekDate(Scanner& in, DateFields& date) {
  if (!in.Take('-') || !in.TakeLetter('W')) return false;
  date.week = in.Number(2);
  if (!date.week) return false;
  const Scanner::Mark after_week = in.mark();
  if (in.Take('-') && !(date.day_of_week = in.Number(1))) in.Reset(after_week);
  return true;
}

bool ReadOrdinalDate(Scanner& in, DateFields& date) {
  if (!in.Take('-')) return false;
  date.day_of_year = in.Number(3);
  return date.day_of_year.has_value();
}

// The three kinds of date share their beginning; as in Joda the one that reads furthest
// is meant, the first of them where they tie.
std::optional<DateFields> ReadDate(Scanner& in) {
  DateFields year_only;
  const std::optional<int64_t> year = in.SignedNumber(kMaxYearDigits);
  if (!year) return std::nullopt;
  year_only.year = *year;
  const Scanner::Mark after_year = in.mark();
  DateFields best = year_only;
  Scanner::Mark furthest = after_year;
  for (auto* read : {&ReadStandardDate, &ReadWeekDate, &ReadOrdinalDate}) {
    in.Reset(after_year);
    DateFields fields = year_only;
    if (!read(in, fields) || in.mark() <= furthest) continue;
    furthest = in.mark();
    best = fields;
  }
  in.Reset(furthest);
  return best;
}

// A fraction of `unit` milliseconds: `.5` of an hour is 30 minutes. Each digit's weight is
// cut to tenths of a millisecond on its own, as in Joda: `.0001` of a minute is 6 ms, but
// 22.095892912 hours end a millisecond before where exact arithmetic has them.
std::optional<int64_t> ReadFraction(Scanner& in, int64_t unit) {
  const Scanner::Mark start = in.mark();
  if ((!in.Take('.') && !in.Take(',')) || !in.PeekDigit()) {
    in.Reset(start);
    return std::nullopt;
  }
  int64_t tenths = 0;
  int64_t weight = unit;
  for (int digits = 0; digits < kMaxFractionDigits && in.PeekDigit(); ++digits) {
    tenths += in.TakeDigit() * weight;
    weight /= 10;
  }
  return tenths / 10;
}

struct TimeOfDay {
  int hour = 0, minute = 0, second = 0;
  int64_t fraction_millis = 0;
  IsoPrecision precision = IsoPrecision::kHour;
};

// `:MM` or nothing; a colon without a number is left for the caller to complain about.
std::optional<int> ReadColonNumber(Scanner& in) {
  const Scanner::Mark start = in.mark();
  if (in.Take(':')) {
    if (std::optional<int> number = in.Number(2)) return number;
  }
  in.Reset(start);
  return std::nullopt;
}

std::optional<TimeOfDay> ReadTime(Scanner& in) {
  TimeOfDay time;
  const std::optional<int> hour = in.Number(2);
  if (!hour) return std::nullopt;
  time.hour = *hour;
  int64_t unit = kMillisPerHour;
  if (std::optional<int> minute = ReadColonNumber(in)) {
    time.minute = *minute;
    time.precision = IsoPrecision::kMinute;
    unit = kMillisPerMinute;
    if (std::optional<int> second = ReadColonNumber(in)) {
      time.second = *second;
      time.precision = IsoPrecision::kSecond;
      unit = kMillisPerSecond;
    }
  }
  if (std::optional<int64_t> fraction = ReadFraction(in, unit)) {
    time.fraction_millis = *fraction;
    time.precision = IsoPrecision::kFraction;
  }
  return time;
}

// Milliseconds east of Greenwich; nothing read where there is no whole offset.
std::optional<int64_t> ReadOffset(Scanner& in) {
  if (in.TakeLetter('Z')) return 0;
  const int sign = in.Take('+') ? 1 : in.Take('-') ? -1 : 0;
  if (sign == 0) return std::nullopt;
  const std::optional<int> hours = in.ExactNumber(2);
  if (!hours || *hours > 23) return std::nullopt;
  int64_t millis = *hours * kMillisPerHour;
  const bool colons = in.Peek() == ':';
  for (const int64_t unit : {kMillisPerMinute, kMillisPerSecond}) {
    if (colons ? !in.Take(':') : !in.PeekDigit()) return sign * millis;
    const std::optional<int> part = in.ExactNumber(2);
    if (!part || *part > 59) return std::nullopt;
    millis += *part * unit;
  }
  if (colons ? !(in.Take('.') || in.Take(',')) : !in.PeekDigit()) return sign * millis;
  int64_t unit = 100;
  if (!in.PeekDigit()) return std::nullopt;
  for (; unit > 0 && in.PeekDigit(); unit /= 10) millis += in.TakeDigit() * unit;
  return sign * millis;
}

bool InRange(const std::optional<int>& value, int low, int high) {
  return !value || (*value >= low && *value <= high);
}

// Monday of the first ISO week of a year: the week that holds January 4th.
absl::CivilDay FirstMonday(int64_t year) {
  const absl::CivilDay fourth(year, 1, 4);
  return absl::GetWeekday(fourth) == absl::Weekday::monday
             ? fourth
             : absl::PrevWeekday(fourth, absl::Weekday::monday);
}

std::optional<absl::CivilDay> DayOfWeekDate(const DateFields& date) {
  const absl::CivilDay first = FirstMonday(date.year);
  const int64_t weeks = (FirstMonday(date.year + 1) - first) / 7;
  if (!InRange(date.week, 1, static_cast<int>(weeks)) || !InRange(date.day_of_week, 1, 7)) {
    return std::nullopt;
  }
  const int64_t week = *date.week - 1;
  return first + 7 * week + (date.day_of_week.value_or(1) - 1);
}

std::optional<absl::CivilDay> DayOf(const DateFields& date) {
  if (date.year < kFirstYear || date.year > kLastYear) return std::nullopt;
  if (date.week) return DayOfWeekDate(date);
  const absl::CivilDay new_year(date.year, 1, 1);
  if (date.day_of_year) {
    const absl::CivilDay day = new_year + (*date.day_of_year - 1);
    return day.year() == date.year ? std::optional(day) : std::nullopt;
  }
  if (!InRange(date.month, 1, 12)) return std::nullopt;
  const absl::CivilDay day(date.year, date.month.value_or(1), date.day.value_or(1));
  const bool exists = day.month() == date.month.value_or(1) && date.day.value_or(1) >= 1;
  return exists ? std::optional(day) : std::nullopt;
}

IsoPrecision PrecisionOf(const DateFields& date) {
  if (date.day || date.day_of_year || date.day_of_week) return IsoPrecision::kDay;
  if (date.week) return IsoPrecision::kWeek;
  return date.month ? IsoPrecision::kMonth : IsoPrecision::kYear;
}

struct Parts {
  DateFields date;
  TimeOfDay time;
  int64_t offset = 0;
  IsoDateTime result;
};

// What follows a `T`: after a date even nothing at all.
bool ReadTimeAndOffset(Scanner& in, Parts& parts) {
  const std::optional<TimeOfDay> time = ReadTime(in);
  if (!time && !parts.result.has_date) return false;
  if (time) {
    parts.time = *time;
    parts.result.precision = time->precision;
  }
  const Scanner::Mark before_offset = in.mark();
  const std::optional<int64_t> offset = ReadOffset(in);
  if (!offset) in.Reset(before_offset);
  parts.offset = offset.value_or(0);
  parts.result.has_offset = offset.has_value();
  return true;
}

// Nothing where there is no such day or time of day.
std::optional<int64_t> MillisOf(const Parts& parts) {
  const TimeOfDay& time = parts.time;
  const std::optional<absl::CivilDay> day = DayOf(parts.date);
  if (!day || time.hour > 23 || time.minute > 59 || time.second > 59) return std::nullopt;
  const int64_t days = *day - absl::CivilDay(1970, 1, 1);
  return days * kMillisPerDay + time.hour * kMillisPerHour + time.minute * kMillisPerMinute +
         time.second * kMillisPerSecond + time.fraction_millis - parts.offset;
}

}  // namespace

absl::StatusOr<IsoDateTime> ParseIsoDateTime(absl::string_view text) {
  Scanner in(text);
  Parts parts;
  if (!in.PeekLetter('T')) {
    const std::optional<DateFields> date = ReadDate(in);
    if (!date) return MalformedInstant(text, 0);
    parts.date = *date;
    parts.result.has_date = true;
    parts.result.precision = PrecisionOf(*date);
  }
  const bool read = !in.TakeLetter('T') || ReadTimeAndOffset(in, parts);
  if (!read || !in.AtEnd()) return MalformedInstant(text, in.position());
  const std::optional<int64_t> millis = MillisOf(parts);
  if (!millis) return NoSuchTime(text);
  if (*millis < Instant::kMin.millis() || *millis > Instant::kMax.millis()) {
    return OutsideEternity(text);
  }
  parts.result.instant = Instant::FromMillis(*millis);
  return parts.result;
}

}  // namespace interlock
