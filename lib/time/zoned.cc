#include "lib/time/zoned.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/civil_time.h"
#include "lib/time/scanner.h"
#include "lib/time/time_errors.h"

namespace interlock {
namespace {

constexpr int64_t kMonthsPerYear = 12;

absl::CivilDay DayOf(int64_t local) {
  return absl::CivilDay(1970, 1, 1) + FloorDiv(local, kMillisPerDay);
}

int64_t LocalOfDay(absl::CivilDay day) {
  return (day - absl::CivilDay(1970, 1, 1)) * kMillisPerDay;
}

absl::CivilSecond SecondOf(int64_t local) {
  return absl::CivilSecond(1970, 1, 1) + FloorDiv(local, kMillisPerSecond);
}

std::optional<int> ReadOffsetSeconds(absl::string_view name) {
  Scanner in(name);
  const int sign = in.Take('+') ? 1 : in.Take('-') ? -1 : 0;
  if (sign == 0) return std::nullopt;
  const std::optional<int> hours = in.ExactNumber(2);
  if (!hours || *hours > 23) return std::nullopt;
  if (in.AtEnd()) return sign * *hours * 3600;
  in.Take(':');
  const std::optional<int> minutes = in.ExactNumber(2);
  if (!minutes || *minutes > 59 || !in.AtEnd()) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

// The loader also takes paths, `localtime`, and folders beside the names proper: answers
// that depend on the machine, or that Druid does not know.
bool LooksLikeIana(absl::string_view name) {
  if (name.empty() || !absl::ascii_isupper(name.front()) || name == "Factory") return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(c) && c != '/' && c != '_' && c != '-' && c != '+') return false;
  }
  return !absl::StartsWith(name, "Fixed/");
}

}  // namespace

absl::StatusOr<absl::TimeZone> LoadZone(absl::string_view name) {
  if (name == "UTC" || name == "Etc/UTC") return absl::UTCTimeZone();
  if (const std::optional<int> offset = ReadOffsetSeconds(name)) {
    return *offset == 0 ? absl::UTCTimeZone() : absl::FixedTimeZone(*offset);
  }
  absl::TimeZone zone;
  if (LooksLikeIana(name) && absl::LoadTimeZone(std::string(name), &zone)) return zone;
  return UnknownTimeZone(name);
}

bool HasFixedOffset(const absl::TimeZone& zone) {
  absl::TimeZone::CivilTransition transition;
  return !zone.NextTransition(absl::InfinitePast(), &transition);
}

int64_t LocalOf(Instant instant, const absl::TimeZone& zone) {
  return instant.millis() + zone.At(instant.ToTime()).offset * kMillisPerSecond;
}

Instant Resolve(int64_t local, const absl::TimeZone& zone) {
  const int64_t second = FloorDiv(local, kMillisPerSecond);
  const absl::TimeZone::TimeInfo info = zone.At(SecondOf(local));
  const int64_t millis = absl::ToUnixSeconds(info.pre) * kMillisPerSecond;
  return Instant::FromMillis(millis + (local - second * kMillisPerSecond));
}

bool InGap(int64_t local, const absl::TimeZone& zone) {
  return zone.At(SecondOf(local)).kind == absl::TimeZone::TimeInfo::SKIPPED;
}

bool InsideGap(int64_t local, const absl::TimeZone& zone) {
  const absl::TimeZone::TimeInfo info = zone.At(SecondOf(local));
  const bool first = info.pre == info.trans && local % kMillisPerSecond == 0;
  return info.kind == absl::TimeZone::TimeInfo::SKIPPED && !first;
}

bool HappensTwice(int64_t local, const absl::TimeZone& zone) {
  return zone.At(SecondOf(local)).kind == absl::TimeZone::TimeInfo::REPEATED;
}

bool InsideTwice(int64_t local, const absl::TimeZone& zone) {
  const absl::TimeZone::TimeInfo info = zone.At(SecondOf(local));
  const bool first = info.post == info.trans && local % kMillisPerSecond == 0;
  return info.kind == absl::TimeZone::TimeInfo::REPEATED && !first;
}

int64_t MonthOf(int64_t local) {
  const absl::CivilDay day = DayOf(local);
  return day.year() * kMonthsPerYear + day.month() - 1;
}

int DayOfMonth(int64_t local) { return DayOf(local).day(); }

int64_t AddMonths(int64_t local, int64_t months) {
  if (months == 0) return local;
  const absl::CivilDay day = DayOf(local);
  const absl::CivilMonth month = absl::CivilMonth(day) + months;
  const int last = (absl::CivilDay(month + 1) - 1).day();
  const absl::CivilDay moved(month.year(), month.month(), std::min(day.day(), last));
  return LocalOfDay(moved) + (local - LocalOfDay(day));
}

}  // namespace interlock
