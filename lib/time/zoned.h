// Calendar arithmetic in a time zone, with the choices that Joda-Time (so Druid) makes
// where local time has a gap or happens twice. For lib/time's own use.
//
// "Local" is milliseconds since 1970-01-01T00:00 on the zone's wall clocks.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/time/instant.h"

namespace interlock {

inline constexpr int64_t kMillisPerSecond = 1000;
inline constexpr int64_t kMillisPerMinute = 60 * kMillisPerSecond;
inline constexpr int64_t kMillisPerHour = 60 * kMillisPerMinute;
inline constexpr int64_t kMillisPerDay = 24 * kMillisPerHour;
inline constexpr int64_t kMillisPerWeek = 7 * kMillisPerDay;

// Rounds towards the past, where `/` rounds towards zero.
constexpr int64_t FloorDiv(int64_t value, int64_t unit) {
  return value / unit - (value % unit < 0 ? 1 : 0);
}

// An IANA name, `UTC`, or an offset `+02`, `+02:00`, `-0330`, letter case as written there.
// TIME_ZONE_UNKNOWN otherwise, where Druid would silently take UTC (DateTimes.java).
absl::StatusOr<absl::TimeZone> LoadZone(absl::string_view name);

// Whether the zone's offset never changes.
bool HasFixedOffset(const absl::TimeZone& zone);

int64_t LocalOf(Instant instant, const absl::TimeZone& zone);

// The instant at which the zone's clocks show `local`. In a gap: as much later as the
// clocks were put forward. Where it happens twice: the earlier.
Instant Resolve(int64_t local, const absl::TimeZone& zone);

// Whether the clocks never show `local`, as they were put forward; show it twice, as they
// were put back. The first moment of such a stretch is often harmless: the `Inside` forms
// leave it out.
bool InGap(int64_t local, const absl::TimeZone& zone);
bool InsideGap(int64_t local, const absl::TimeZone& zone);
bool HappensTwice(int64_t local, const absl::TimeZone& zone);
bool InsideTwice(int64_t local, const absl::TimeZone& zone);

// Months since year 0 of the day that `local` lies in.
int64_t MonthOf(int64_t local);
// The day of its month, from 1.
int DayOfMonth(int64_t local);
// Adds months; a day that the month does not have becomes the month's last.
int64_t AddMonths(int64_t local, int64_t months);

}  // namespace interlock
