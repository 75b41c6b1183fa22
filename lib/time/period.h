// An ISO-8601 period: years, months, weeks, days, hours, minutes, seconds, milliseconds.
//
// A period is no duration: a month has no fixed length, and a day has none in a zone with
// daylight saving. So it is added field by field on the zone's calendar, as Joda-Time does
// for Druid. A value type; no thread rule.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/time/instant.h"

namespace interlock {

class Period {
 public:
  // The empty period, PT0S.
  constexpr Period() = default;

  static constexpr Period Years(int n) { return Period().Set(&Period::years_, n); }
  static constexpr Period Months(int n) { return Period().Set(&Period::months_, n); }
  static constexpr Period Weeks(int n) { return Period().Set(&Period::weeks_, n); }
  static constexpr Period Days(int n) { return Period().Set(&Period::days_, n); }
  static constexpr Period Hours(int n) { return Period().Set(&Period::hours_, n); }
  static constexpr Period Minutes(int n) { return Period().Set(&Period::minutes_, n); }
  static constexpr Period Seconds(int n) { return Period().Set(&Period::seconds_, n); }
  static constexpr Period Millis(int n) { return Period().Set(&Period::millis_, n); }

  // `P1Y2M3W4DT5H6M7.008S`; each number may have a sign; letters in either case.
  // INVALID_ARGUMENT (PERIOD_MALFORMED) otherwise.
  static absl::StatusOr<Period> Parse(absl::string_view text);

  constexpr int years() const { return years_; }
  constexpr int months() const { return months_; }
  constexpr int weeks() const { return weeks_; }
  constexpr int days() const { return days_; }
  constexpr int hours() const { return hours_; }
  constexpr int minutes() const { return minutes_; }
  constexpr int seconds() const { return seconds_; }
  constexpr int millis() const { return millis_; }

  // `instant` moved by `times` this period, largest field first, each as a single step
  // (so that P1M three times from 31 January is 30 April, not 28 April). Stops at the ends
  // of Druid's eternity.
  Instant AddTo(Instant instant, const absl::TimeZone& zone, int64_t times) const;

  // The length where it has one wherever it is added: no years and no months, days of
  // 24 hours. So P1D and PT24H are both 86 400 000.
  std::optional<int64_t> FixedMillis() const;

  // As Joda prints: `P1Y2M3W4DT5H6M7.008S`, the empty one `PT0S`.
  std::string ToString() const;

  // Field by field, as in Druid: P7D is not P1W.
  friend constexpr bool operator==(const Period&, const Period&) = default;

  template <typename H>
  friend H AbslHashValue(H state, const Period& p) {
    return H::combine(std::move(state), p.years_, p.months_, p.weeks_, p.days_, p.hours_,
                      p.minutes_, p.seconds_, p.millis_);
  }

 private:
  constexpr Period Set(int Period::*field, int value) const {
    Period copy = *this;
    copy.*field = value;
    return copy;
  }

  int years_ = 0, months_ = 0, weeks_ = 0, days_ = 0;
  int hours_ = 0, minutes_ = 0, seconds_ = 0, millis_ = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Period& period) {
  return out << period.ToString();
}

}  // namespace interlock
