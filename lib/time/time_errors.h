// The errors of lib/time. Each has a stable reason (reason.h), names what was found and
// says what would do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interlock {

// INVALID_ARGUMENT, INSTANT_MALFORMED: reading stopped at byte `position`.
absl::Status MalformedInstant(absl::string_view found, size_t position);
// INVALID_ARGUMENT, INSTANT_MALFORMED: well written, but no such day or time of day.
absl::Status NoSuchTime(absl::string_view found);
// INVALID_ARGUMENT, INSTANT_OUTSIDE_ETERNITY
absl::Status OutsideEternity(absl::string_view found);
// INVALID_ARGUMENT, PERIOD_MALFORMED
absl::Status MalformedPeriod(absl::string_view found, size_t position);
// INVALID_ARGUMENT, DURATION_MALFORMED
absl::Status MalformedDuration(absl::string_view found);
// INVALID_ARGUMENT, INTERVAL_MALFORMED
absl::Status MalformedInterval(absl::string_view found, absl::string_view why);
// INVALID_ARGUMENT, INTERVAL_ENDS_BEFORE_START
absl::Status EndsBeforeStart(absl::string_view start, absl::string_view end);
// INVALID_ARGUMENT, GRANULARITY_UNKNOWN: lists the names there are.
absl::Status UnknownGranularity(absl::string_view found);
// INVALID_ARGUMENT, PERIOD_NOT_POSITIVE
absl::Status PeriodNotPositive(absl::string_view found);
// INVALID_ARGUMENT, TIME_ZONE_UNKNOWN
absl::Status UnknownTimeZone(absl::string_view found);
// UNIMPLEMENTED, GRANULARITY_UNSUPPORTED: Druid takes it, but cuts time by it in a way
// that is no calendar.
absl::Status UnsupportedGranularity(absl::string_view found, absl::string_view why);
// OUT_OF_RANGE, TOO_MANY_PARTITIONS
absl::Status TooManyPartitions(absl::string_view interval, absl::string_view granularity,
                               int64_t at_least, int64_t limit);
// INVALID_ARGUMENT, MISALIGNED: `nearest` lists the aligned intervals around it.
absl::Status Misaligned(absl::string_view interval, absl::string_view granularity,
                        absl::string_view nearest);

}  // namespace interlock
