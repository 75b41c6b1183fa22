#include "lib/time/instant.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "lib/time/iso8601.h"
#include "lib/time/time_errors.h"

namespace interlock {

Instant Instant::FromTime(absl::Time time) {
  const int64_t millis = absl::ToUnixMillis(time);
  return FromMillis(std::clamp(millis, kMin.millis(), kMax.millis()));
}

absl::StatusOr<Instant> Instant::Parse(absl::string_view text) {
  absl::StatusOr<IsoDateTime> parsed = ParseIsoDateTime(text);
  if (parsed.ok()) return parsed->instant;
  // Druid's DateTimes.of: what is no ISO-8601 may still be a number of milliseconds.
  int64_t millis = 0;
  const bool number = !text.empty() && !absl::ascii_isspace(text.front()) &&
                      !absl::ascii_isspace(text.back()) && absl::SimpleAtoi(text, &millis);
  if (!number || parsed.status() == OutsideEternity(text)) return parsed.status();
  if (millis < kMin.millis() || millis > kMax.millis()) return OutsideEternity(text);
  return FromMillis(millis);
}

std::string Instant::ToString() const {
  const absl::TimeZone::CivilInfo at = absl::UTCTimeZone().At(ToTime());
  const absl::CivilSecond& c = at.cs;
  const int64_t year = c.year();
  return absl::StrFormat("%s%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year < 0 ? "-" : "",
                         year < 0 ? -year : year, c.month(), c.day(), c.hour(), c.minute(),
                         c.second(), absl::ToInt64Milliseconds(at.subsecond));
}

Instant operator+(Instant instant, absl::Duration duration) {
  return Instant::FromTime(instant.ToTime() + duration);
}

Instant operator-(Instant instant, absl::Duration duration) {
  return Instant::FromTime(instant.ToTime() - duration);
}

absl::Duration operator-(Instant later, Instant earlier) {
  return later.ToTime() - earlier.ToTime();
}

}  // namespace interlock
