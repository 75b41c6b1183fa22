// ISO-8601 dates and times as Joda-Time's dateTimeParser reads them, which is what Druid
// hands every instant and interval to. For lib/time's own use: others call
// Instant::Parse and Interval::Parse.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/time/instant.h"

namespace interlock {

// The finest field that was written, which is what a lone date means as an interval.
enum class IsoPrecision { kYear, kMonth, kWeek, kDay, kHour, kMinute, kSecond, kFraction };

struct IsoDateTime {
  Instant instant;
  IsoPrecision precision = IsoPrecision::kYear;
  bool has_date = false;    // `T13` has none and means 1970-01-01T13
  bool has_offset = false;  // without one, UTC was taken
};

absl::StatusOr<IsoDateTime> ParseIsoDateTime(absl::string_view text);

}  // namespace interlock
