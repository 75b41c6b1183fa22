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

absl::Status NotPositive(const Period& period) { return MalformedPeriod(period.ToString(), 1); }

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
  if (fields.count == 0 || fields.negative) return NotPositive(period);
  const absl::StatusOr<absl::TimeZone> loaded = LoadZone(zone);
  if (!loaded.ok()) return loaded.status();
  Granularity g;
  g.period_ = period;
  g.zone_ = *loaded;
  g.zone_name_ = g.zone_ == absl::UTCTimeZone() ? "UTC" : zone;
  g.origin_ = origin;
  const bool fixed_zone = HasFixedOffset(g.zone_);
  const int64_t local_origin = origin ? LocalOf(*origin, g.zone_) : 0;
  const int64_t first = origin ? origin->millis() : Resolve(0, g.zone_).millis();
  const int64_t months = period.years() * kMonthsPerYear + period.months();
  const std::optional<int64_t> millis = period.FixedMillis();
  if (fields.count > 1) {
    if (!millis || !fixed_zone) {
      return UnsupportedGranularity(
          g.ToString(), "a period of several fields has no fixed length here; one field would do");
    }
    g.SetElapsed(*millis, first);
  } else if (months > 0) {
    if (DayOfMonth(local_origin) > kLastDayOfEveryMonth) {
      return UnsupportedGranularity(
          g.ToString(), "not every month has the day of its origin; one up to the 28th would do");
    }
    g.SetCalendar(Kind::kMonths, months, local_origin);
  } else if (period.weeks() > 0 || period.days() > 0) {
    const bool monday = period.weeks() == 1 && !origin;
    g.starts_on_monday_ = monday;
    g.SetCalendar(Kind::kDays, *millis, monday ? kFirstMonday : local_origin);
    if (fixed_zone) g.SetElapsed(*millis, first + (monday ? kFirstMonday : 0));
  } else {
    const bool clock = !origin && !fixed_zone && period.millis() == 0 &&
                       period.hours() + period.minutes() + period.seconds() == 1;
    g.SetElapsed(*millis, first);
    g.counts_hours_ = period.hours() > 1 || (period.hours() == 1 && origin.has_value());
    if (clock) g.SetCalendar(Kind::kLocalClock, *millis, 0);
  }
  return g;
}

void Granularity::SetElapsed(int64_t step, int64_t anchor) {
  kind_ = Kind::kElapsed;
  step_ = step;
  anchor_ = anchor;
}

void Granularity::SetCalendar(Kind kind, int64_t step, int64_t anchor) {
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
