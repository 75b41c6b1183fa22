#include "lib/backfill/path_time.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace interlock::backfill {
namespace {

// Between two parts of a date: `-`, `/`, `_`, `/month=`, `/m=`.
constexpr size_t kMaxSeparator = 7;

struct Number {
  int value = 0;
  size_t end = 0;  // where the digits end
};

// Exactly `digits` digits at `at`.
bool ReadNumber(absl::string_view text, size_t at, size_t digits, Number* number) {
  if (at + digits > text.size()) return false;
  const absl::string_view word = text.substr(at, digits);
  if (!std::all_of(word.begin(), word.end(), absl::ascii_isdigit)) return false;
  number->end = at + digits;
  return absl::SimpleAtoi(word, &number->value);
}

bool DigitAt(absl::string_view text, size_t at) {
  return at < text.size() && absl::ascii_isdigit(text[at]);
}

// The next part of two digits: at once where `tight`, else after a separator.
bool ReadPart(absl::string_view text, bool tight, Number* number) {
  size_t at = number->end;
  if (tight) return ReadNumber(text, at, 2, number);
  const size_t first = at;
  while (at < text.size() && !DigitAt(text, at)) ++at;
  if (at == first || at - first > kMaxSeparator) return false;
  return ReadNumber(text, at, 2, number) && !DigitAt(text, number->end);
}

bool ReadDay(absl::string_view text, size_t at, Interval* day, size_t* end) {
  Number year;
  if (!ReadNumber(text, at, 4, &year) || year.value < 1970 || year.value > 2099) return false;
  const bool tight = DigitAt(text, year.end);
  Number month = year;
  if (!ReadPart(text, tight, &month) || month.value < 1 || month.value > 12) return false;
  Number date = month;
  if (!ReadPart(text, tight, &date) || date.value < 1 || date.value > 31) return false;
  const absl::CivilDay civil(year.value, month.value, date.value);
  if (civil.day() != date.value) return false;  // no 31st of February
  const auto instant = [](absl::CivilDay which) {
    return Instant::FromMillis(absl::ToUnixMillis(absl::FromCivil(which, absl::UTCTimeZone())));
  };
  const auto interval = Interval::Of(instant(civil), instant(civil + 1));
  if (!interval.ok()) return false;
  *day = *interval;
  *end = date.end;
  return true;
}

}  // namespace

std::vector<Interval> DaysIn(absl::string_view text) {
  std::vector<Interval> days;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins = DigitAt(text, at) && (at == 0 || !DigitAt(text, at - 1));
    Interval day;
    size_t end = 0;
    if (!begins || !ReadDay(text, at, &day, &end)) continue;
    days.push_back(day);
    at = end - 1;
  }
  return days;
}

std::string OutsideOf(const Template& path, const Interval& unit) {
  const auto start = Interval::Of(unit.start(), unit.start());
  if (!start.ok()) return "";
  const std::string rendered = path.Render(*start);
  const std::vector<Interval> days = DaysIn(rendered);
  const bool touches = std::any_of(days.begin(), days.end(),
                                   [&](const Interval& day) { return day.Overlaps(unit); });
  return days.empty() || touches ? "" : rendered;
}

}  // namespace interlock::backfill
