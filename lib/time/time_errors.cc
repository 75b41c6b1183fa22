#include "lib/time/time_errors.h"

#include "absl/strings/str_cat.h"
#include "lib/time/instant.h"
#include "lib/time/status_reason.h"

namespace interlock {
namespace {

constexpr size_t kMaxEcho = 80;  // bytes of a caller's text that an error repeats

// A hostile megabyte does not come back in the error, nor in the logs.
std::string Quote(absl::string_view text) {
  if (text.size() <= kMaxEcho) return absl::StrCat("'", text, "'");
  return absl::StrCat("'", text.substr(0, kMaxEcho), "...' (", text.size(), " bytes)");
}

}  // namespace

absl::Status MalformedInstant(absl::string_view found, size_t position) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "instant ", Quote(found), " stops making sense at byte ", position,
                        "; an ISO-8601 date or time would do, such as 2026-07-16, "
                        "2026-07-16T13:00Z or 2026-07-16T15:00:00.000+02:00")),
                    "INSTANT_MALFORMED");
}

absl::Status NoSuchTime(absl::string_view found) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "instant ", Quote(found),
          " names a day or a time of day that does not exist; months go from 1 to 12, hours "
          "from 0 to 23, minutes and seconds from 0 to 59")),
      "INSTANT_MALFORMED");
}

absl::Status OutsideEternity(absl::string_view found) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        Quote(found), " lies outside of Druid's eternity, which goes from ",
                        Instant::kMin.ToString(), " to ", Instant::kMax.ToString())),
                    "INSTANT_OUTSIDE_ETERNITY");
}

absl::Status MalformedPeriod(absl::string_view found, size_t position) {
  return WithReason(
      absl::InvalidArgumentError(
          absl::StrCat("period ", Quote(found), " stops making sense at byte ", position,
                       "; an ISO-8601 period would do, such as P1D, PT1H or P1Y2M3W4DT5H6M7.008S")),
      "PERIOD_MALFORMED");
}

absl::Status MalformedDuration(absl::string_view found) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "duration ", Quote(found),
          " was not understood; 10m, 72h, 14d, 1h30m or an ISO-8601 period of fixed length "
          "such as P2D or PT10M would do")),
      "DURATION_MALFORMED");
}

absl::Status MalformedInterval(absl::string_view found, absl::string_view why) {
  return WithReason(absl::InvalidArgumentError(
                        absl::StrCat("interval ", Quote(found), " was not understood: ", why,
                                     "; start/end, start/period or period/end would do, such as "
                                     "2026-07-16/2026-07-17 or 2026-07-16/P1D")),
                    "INTERVAL_MALFORMED");
}

absl::Status EndsBeforeStart(absl::string_view start, absl::string_view end) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat("interval ", start, "/", end,
                                              " ends before it starts; the end must be at or "
                                              "after the start")),
      "INTERVAL_ENDS_BEFORE_START");
}

absl::Status UnknownGranularity(absl::string_view found) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "granularity ", Quote(found),
          " is unknown; SECOND, MINUTE, FIVE_MINUTE, TEN_MINUTE, FIFTEEN_MINUTE, THIRTY_MINUTE, "
          "HOUR, SIX_HOUR, EIGHT_HOUR, DAY, WEEK, MONTH, QUARTER, YEAR, ALL, NONE or a period "
          "such as P1D would do")),
      "GRANULARITY_UNKNOWN");
}

absl::Status PeriodNotPositive(absl::string_view found) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "granularity ", Quote(found),
                        " has no length, or a field below zero; a period such as P1D would do")),
                    "PERIOD_NOT_POSITIVE");
}

absl::Status UnknownTimeZone(absl::string_view found) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "time zone ", Quote(found),
          " is unknown here, and Druid would take UTC for one that it does not know; an IANA name "
          "such as America/New_York, or an offset such as +02:00, would do (this machine's time "
          "zone database is looked in)")),
      "TIME_ZONE_UNKNOWN");
}

absl::Status UnsupportedGranularity(absl::string_view found, absl::string_view why) {
  return WithReason(absl::UnimplementedError(
                        absl::StrCat("granularity ", Quote(found), " is not supported: ", why)),
                    "GRANULARITY_UNSUPPORTED", {{"granularity", std::string(found)}});
}

absl::Status TooManyPartitions(absl::string_view interval, absl::string_view granularity,
                               int64_t at_least, int64_t limit) {
  return WithReason(
      absl::OutOfRangeError(absl::StrCat(
          interval, " has at least ", at_least, " partitions of ", granularity,
          ", more than the limit of ", limit,
          "; a shorter interval, several intervals or a coarser granularity would do")),
      "TOO_MANY_PARTITIONS",
      {{"interval", std::string(interval)},
       {"granularity", std::string(granularity)},
       {"limit", absl::StrCat(limit)}});
}

absl::Status Misaligned(absl::string_view interval, absl::string_view granularity,
                        absl::string_view nearest) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(interval, " does not begin and end where a ",
                                              granularity, " does; ", nearest, " would do")),
      "MISALIGNED",
      {{"interval", std::string(interval)},
       {"granularity", std::string(granularity)},
       {"nearest", std::string(nearest)}});
}

}  // namespace interlock
