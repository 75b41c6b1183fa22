#include "lib/time/interval.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/time/iso8601.h"
#include "lib/time/period.h"
#include "lib/time/time_errors.h"

namespace interlock {
namespace {

bool IsPeriod(absl::string_view side) { return side.front() == 'P' || side.front() == 'p'; }

// The other end of an interval that a period was given for.
absl::StatusOr<Instant> OtherEnd(absl::string_view text, Instant from, const Period& period,
                                 int64_t times) {
  const Instant other = period.AddTo(from, absl::UTCTimeZone(), times);
  if (other <= Instant::kMin || other >= Instant::kMax) return OutsideEternity(text);
  return other;
}

absl::StatusOr<Interval> FromPeriodEnd(absl::string_view text, absl::string_view left,
                                       absl::string_view right) {
  const absl::StatusOr<Period> period = Period::Parse(left);
  if (!period.ok()) return period.status();
  const absl::StatusOr<IsoDateTime> end = ParseIsoDateTime(right);
  if (!end.ok()) return end.status();
  const absl::StatusOr<Instant> start = OtherEnd(text, end->instant, *period, -1);
  if (!start.ok()) return start.status();
  return Interval::Of(*start, end->instant);
}

absl::StatusOr<Interval> FromStart(absl::string_view text, absl::string_view left,
                                   absl::string_view right) {
  const absl::StatusOr<IsoDateTime> start = ParseIsoDateTime(left);
  if (!start.ok()) return start.status();
  if (!IsPeriod(right)) {
    const absl::StatusOr<IsoDateTime> end = ParseIsoDateTime(right);
    if (!end.ok()) return end.status();
    return Interval::Of(start->instant, end->instant);
  }
  const absl::StatusOr<Period> period = Period::Parse(right);
  if (!period.ok()) return period.status();
  const absl::StatusOr<Instant> end = OtherEnd(text, start->instant, *period, 1);
  if (!end.ok()) return end.status();
  return Interval::Of(start->instant, *end);
}

Period LengthOf(IsoPrecision precision) {
  switch (precision) {
    case IsoPrecision::kYear:
      return Period::Years(1);
    case IsoPrecision::kMonth:
      return Period::Months(1);
    case IsoPrecision::kWeek:
      return Period::Weeks(1);
    case IsoPrecision::kDay:
      return Period::Days(1);
    case IsoPrecision::kHour:
      return Period::Hours(1);
    case IsoPrecision::kMinute:
      return Period::Minutes(1);
    case IsoPrecision::kSecond:
      return Period::Seconds(1);
    case IsoPrecision::kFraction:
      break;
  }
  return Period();
}

}  // namespace

absl::StatusOr<Interval> Interval::Of(Instant start, Instant end) {
  if (end < start) return EndsBeforeStart(start.ToString(), end.ToString());
  const Interval interval(start, end);
  if (start < Instant::kMin || end > Instant::kMax) return OutsideEternity(interval.ToString());
  return interval;
}

absl::StatusOr<Interval> Interval::Parse(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos) return MalformedInterval(text, "it has no '/'");
  const absl::string_view left = text.substr(0, slash);
  const absl::string_view right = text.substr(slash + 1);
  if (left.empty()) return MalformedInterval(text, "nothing stands before the '/'");
  if (right.empty()) return MalformedInterval(text, "nothing stands after the '/'");
  if (!IsPeriod(left)) return FromStart(text, left, right);
  if (IsPeriod(right)) return MalformedInterval(text, "both sides are periods");
  return FromPeriodEnd(text, left, right);
}

absl::StatusOr<Interval> Interval::ParseShorthand(absl::string_view text) {
  if (text.find('/') != absl::string_view::npos) return Parse(text);
  if (absl::EqualsIgnoreCase(text, "eternity")) return Eternity();
  const absl::StatusOr<IsoDateTime> lone = ParseIsoDateTime(text);
  if (!lone.ok()) return lone.status();
  if (!lone->has_date) return MalformedInterval(text, "a time of day without a date");
  const Period length = LengthOf(lone->precision);
  if (length == Period()) return MalformedInterval(text, "a fraction of a second is no interval");
  // 20260716 would be the year twenty million.
  const std::string printed = lone->instant.ToString();
  if (printed.find('-', 1) > 4) {
    return MalformedInterval(text, "a lone year has four digits; a date is written 2026-07-16");
  }
  const absl::StatusOr<Instant> end = OtherEnd(text, lone->instant, length, 1);
  if (!end.ok()) return end.status();
  return Of(lone->instant, *end);
}

std::optional<Interval> Interval::Intersect(const Interval& other) const {
  if (!Overlaps(other)) return std::nullopt;
  return Interval(std::max(start_, other.start_), std::min(end_, other.end_));
}

std::string Interval::ToString() const {
  return absl::StrCat(start_.ToString(), "/", end_.ToString());
}

}  // namespace interlock
