#include "lib/time/granularity.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lib/time/time_errors.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

constexpr int64_t kMonthsPerYear = 12;
constexpr int64_t kFirstMonday = 4 * kMillisPerDay;  // 1970-01-05
constexpr int kLastDayOfEveryMonth = 28;
// Longer than any use, and short enough for bounds beyond eternity's ends to be counted.
constexpr int64_t kLongestStepYears = 100'000;
constexpr int64_t kLongestStepMonths = kLongestStepYears * kMonthsPerYear;
constexpr int64_t kLongestStepMillis = kLongestStepYears * 365 * kMillisPerDay;

struct Named {
  absl::string_view name;
  Period period;
};

constexpr Named kNamed[] = {
    {"SECOND", Period::Seconds(1)},
    {"MINUTE", Period::Minutes(1)},
    {"FIVE_MINUTE", Period::Minutes(5)},
    {"TEN_MINUTE", Period::Minutes(10)},
    {"FIFTEEN_MINUTE", Period::Minutes(15)},
    {"THIRTY_MINUTE", Period::Minutes(30)},
    {"HOUR", Period::Hours(1)},
    {"SIX_HOUR", Period::Hours(6)},
    {"EIGHT_HOUR", Period::Hours(8)},
    {"DAY", Period::Days(1)},
    {"WEEK", Period::Weeks(1)},
    {"MONTH", Period::Months(1)},
    {"QUARTER", Period::Months(3)},
    {"YEAR", Period::Years(1)},
};

struct Fields {
  int count = 0;
  bool negative = false;
};

Fields FieldsOf(const Period& p) {
  Fields fields;
  for (const int n : {p.years(), p.months(), p.weeks(), p.days(), p.hours(), p.minutes(),
                      p.seconds(), p.millis()}) {
    if (n != 0) ++fields.count;
    if (n < 0) fields.negative = true;
  }
  return fields;
}

absl::Status TooLong(absl::string_view found) {
  return UnsupportedGranularity(
      found, absl::StrCat("it is longer than ", kLongestStepYears, " years; ALL would do"));
}

}  // namespace

Granularity Granularity::Simple(Kind kind) {
  Granularity granularity;
  granularity.kind_ = kind;
  granularity.form_ = Form::kName;
  return granularity;
}

absl::StatusOr<Granularity> Granularity::FromName(absl::string_view name) {
  const std::string upper = absl::AsciiStrToUpper(name);
  if (upper == "ALL") return Simple(Kind::kAll);
  if (upper == "NONE") return Simple(Kind::kNone);
  for (const Named& named : kNamed) {
    if (upper == named.name) return OfPeriod(named.period);
  }
  return UnknownGranularity(name);
}

absl::StatusOr<Granularity> Granularity::OfDuration(int64_t millis, Instant origin) {
  const std::string found = absl::StrCat("duration ", millis, " ms");
  if (millis <= 0) return UnsupportedGranularity(found, "it must be longer than nothing");
  if (millis > kLongestStepMillis) return TooLong(found);
  if (origin.millis() % millis != 0) {
    return UnsupportedGranularity(
        absl::StrCat(found, " from ", origin.ToString()),
        "Druid's allocator ignores the origin of a duration; a period with an origin would do");
  }
  Granularity granularity = Simple(Kind::kElapsed);
  granularity.form_ = Form::kDuration;
  granularity.step_ = millis;
  return granularity;
}

absl::StatusOr<Granularity> Granularity::OfPeriod(const Period& period, const std::string& zone,
                                                  std::optional<Instant> origin) {
  const Fields fields = FieldsOf(period);
  if (fields.count == 0 || fields.negative) return PeriodNotPositive(period.ToString());
  const absl::StatusOr<absl::TimeZone> loaded = LoadZone(zone);
  if (!loaded.ok()) return loaded.status();
  if (origin && (*origin < Instant::kMin || *origin > Instant::kMax)) {
    return OutsideEternity(origin->ToString());
  }
  Granularity g;
  g.period_ = period;
  g.zone_ = *loaded;
  g.zone_name_ = g.zone_ == absl::UTCTimeZone() ? "UTC" : zone;
  g.origin_ = origin;
  const bool months = period.years() > 0 || period.months() > 0;
  const bool days = period.weeks() > 0 || period.days() > 0;
  const absl::Status cut = fields.count > 1 ? g.CutBySum()
                           : months         ? g.CutByMonths()
                           : days           ? g.CutByDays()
                                            : g.CutByClock();
  if (!cut.ok()) return cut;
  if (g.step_ > (g.kind_ == Kind::kMonths ? kLongestStepMonths : kLongestStepMillis)) {
    return TooLong(g.ToString());
  }
  return g;
}

int64_t Granularity::LocalOrigin() const { return origin_ ? LocalOf(*origin_, zone_) : 0; }

Instant Granularity::FirstBound() const { return origin_ ? *origin_ : Resolve(0, zone_); }

// Druid itself walks from the origin, bucket by bucket, where the sum has no fixed length.
absl::Status Granularity::CutBySum() {
  const std::optional<int64_t> millis = period_.FixedMillis();
  if (!millis || !HasFixedOffset(zone_)) {
    return UnsupportedGranularity(
        ToString(), "a period of several fields has no fixed length here; one field would do");
  }
  Cut(Kind::kElapsed, *millis, FirstBound().millis());
  return absl::OkStatus();
}

absl::Status Granularity::CutByMonths() {
  if (DayOfMonth(LocalOrigin()) > kLastDayOfEveryMonth) {
    return UnsupportedGranularity(
        ToString(), "not every month has the day of its origin; one up to the 28th would do");
  }
  rounds_clock_ = !origin_ && period_.years() + period_.months() == 1;
  Cut(Kind::kMonths, period_.years() * kMonthsPerYear + period_.months(), LocalOrigin());
  return absl::OkStatus();
}

absl::Status Granularity::CutByDays() {
  rounds_clock_ = !origin_ && period_.weeks() + period_.days() == 1;
  starts_on_monday_ = rounds_clock_ && period_.weeks() == 1;
  const int64_t shift = starts_on_monday_ ? kFirstMonday : 0;
  if (HasFixedOffset(zone_)) {
    Cut(Kind::kElapsed, *period_.FixedMillis(), FirstBound().millis() + shift);
  } else {
    Cut(Kind::kDays, *period_.FixedMillis(), LocalOrigin() + shift);
  }
  return absl::OkStatus();
}

// One hour, one minute or one second follows the clocks. Their multiples, and whatever has
// an origin, count from a first bound.
absl::Status Granularity::CutByClock() {
  const bool one = period_.hours() + period_.minutes() + period_.seconds() == 1;
  const int64_t millis = *period_.FixedMillis();
  counts_hours_ = period_.hours() > 1 || (period_.hours() == 1 && origin_.has_value());
  if (one && !origin_ && !HasFixedOffset(zone_)) {
    Cut(Kind::kLocalClock, millis, 0);
  } else {
    Cut(Kind::kElapsed, millis, FirstBound().millis());
  }
  return absl::OkStatus();
}

void Granularity::Cut(Kind kind, int64_t step, int64_t anchor) {
  kind_ = kind;
  step_ = step;
  anchor_ = anchor;
}

std::string Granularity::ToString() const {
  if (kind_ == Kind::kAll) return "ALL";
  if (form_ == Form::kName) return "NONE";
  if (form_ == Form::kDuration) return absl::StrCat("duration ", step_, " ms");
  const bool plain = zone_name_ == "UTC" && !origin_;
  if (plain) {
    for (const Named& named : kNamed) {
      if (period_ == named.period) return std::string(named.name);
    }
  }
  return absl::StrCat(period_.ToString(), zone_name_ == "UTC" ? "" : " in ",
                      zone_name_ == "UTC" ? "" : zone_name_, origin_ ? " from " : "",
                      origin_ ? origin_->ToString() : "");
}

bool operator==(const Granularity& a, const Granularity& b) {
  return a.kind_ == b.kind_ && a.form_ == b.form_ && a.step_ == b.step_ && a.period_ == b.period_ &&
         a.zone_name_ == b.zone_name_ && a.origin_ == b.origin_;
}

}  // namespace interlock
