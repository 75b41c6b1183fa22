// Druid's calendars of segments: how time is cut into granules (buckets, partitions).
//
// A granularity cuts all of time into half-open buckets without gap or overlap: for every
// instant, Floor(t) <= t < Bucket(t).end(), and every bucket's end is the next one's
// start. Bounds are computed from the granularity's origin in a single step, never by
// walking from one bucket to the next, so that a day on which the clocks changed does not
// shift all that follow (apache/druid#12434), and counting is arithmetic: eternity by DAY
// is refused in nanoseconds without an allocation (apache/druid#13893).
//
// Druid's own buckets (PeriodGranularity.java) are the same wherever Druid's are a
// calendar. Where a bucket begins in a local time that does not exist or happens twice,
// and in a few corners more, Druid's overlap each other: see DruidAgrees. Partitions,
// which is what work is split by, refuses those: what Druid would write there is not the
// bucket that was asked for.
//
// A value type: cheap to copy; const use from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/time/period.h"

namespace interlock {

class Granularity {
 public:
  // One of Druid's names, in either case: SECOND, MINUTE, FIVE_MINUTE, TEN_MINUTE,
  // FIFTEEN_MINUTE, THIRTY_MINUTE, HOUR, SIX_HOUR, EIGHT_HOUR, DAY, WEEK, MONTH, QUARTER,
  // YEAR, ALL, NONE. INVALID_ARGUMENT (GRANULARITY_UNKNOWN) lists them.
  static absl::StatusOr<Granularity> FromName(absl::string_view name);

  // A calendar in an IANA time zone. Without an origin, multiples count from 1970-01-01
  // in the zone, and a single week begins on Monday.
  // INVALID_ARGUMENT for a zone that is unknown (TIME_ZONE_UNKNOWN) and a period that is
  // empty or has a field below zero (PERIOD_NOT_POSITIVE); UNIMPLEMENTED
  // (GRANULARITY_UNSUPPORTED) for what Druid can only walk through bucket by bucket:
  // several fields with months or in a zone whose offset changes, months or years from the
  // 29th or later; and for more than 100 000 years.
  static absl::StatusOr<Granularity> OfPeriod(const Period& period, const std::string& zone = "UTC",
                                              std::optional<Instant> origin = std::nullopt);

  // UNIMPLEMENTED (GRANULARITY_UNSUPPORTED) for an origin that is no multiple of `millis`:
  // Druid's allocator does not see it (apache/druid#9894).
  static absl::StatusOr<Granularity> OfDuration(int64_t millis, Instant origin = Instant());

  // The start of the bucket that `instant` lies in.
  Instant Floor(Instant instant) const { return Bucket(instant).start(); }
  // The first start of a bucket at or after `instant`.
  Instant Ceil(Instant instant) const;
  Interval Bucket(Instant instant) const;

  // Whether the interval is exactly one bucket.
  bool IsBucket(const Interval& interval) const { return Bucket(interval.start()) == interval; }
  // Whether the interval begins and ends where buckets do.
  bool Aligned(const Interval& interval) const;
  // MISALIGNED where it is not, naming the nearest intervals that are.
  absl::Status CheckAligned(const Interval& interval) const;
  // The smallest aligned interval that covers it.
  Interval Widen(const Interval& interval) const;
  // The largest aligned interval inside it, where there is one.
  std::optional<Interval> Shrink(const Interval& interval) const;

  // How many buckets the interval touches. OUT_OF_RANGE (TOO_MANY_PARTITIONS) beyond
  // `limit`; takes at most `limit` steps, for zones whose offset changes, else none.
  absl::StatusOr<int64_t> Count(const Interval& interval, int64_t limit) const;

  // The buckets of an aligned interval, in order. Errors of Count and CheckAligned; and
  // UNIMPLEMENTED (GRANULARITY_UNSUPPORTED) where Druid would cut otherwise.
  absl::StatusOr<std::vector<Interval>> Partitions(const Interval& interval, int64_t limit) const;

  // Whether Druid computes exactly this bucket for every instant in it.
  bool DruidAgrees(const Interval& bucket) const;

  // Whether every bucket of this lies inside one of `coarser`, from 1970 on: HOUR in DAY,
  // DAY in MONTH; not WEEK in MONTH, nor a day of one zone in that of another.
  bool FinerOrEqual(const Granularity& coarser) const;
  // Neither nests in the other: buckets of the two stick out of each other.
  bool Crosses(const Granularity& other) const {
    return !FinerOrEqual(other) && !other.FinerOrEqual(*this);
  }

  bool is_all() const { return kind_ == Kind::kAll; }
  bool is_none() const { return kind_ == Kind::kNone; }
  // Empty for ALL and NONE, and for a duration its milliseconds.
  const Period& period() const { return period_; }
  const std::string& zone() const { return zone_name_; }
  const std::optional<Instant>& origin() const { return origin_; }

  // Druid's name where it has one, else the period: `DAY`, `PT2H`,
  // `P1D in America/New_York`, `P7D in America/Denver from 2022-03-27T08:35:00.000Z`.
  std::string ToString() const;

  // Same definition, as in Druid: P7D is not P1W, though they may cut alike.
  friend bool operator==(const Granularity& a, const Granularity& b);

 private:
  enum class Kind {
    kAll,
    kNone,
    kElapsed,     // every `step_` milliseconds since `anchor_`, an instant
    kDays,        // every `step_` milliseconds (whole days) of local time since `anchor_`, local
    kMonths,      // every `step_` months since `anchor_`, local
    kLocalClock,  // whenever the zone's clocks show a multiple of `step_`: hour, minute, second
  };
  // A duration in the sense of OfDuration has no period in Druid's sense.
  enum class Form { kPeriod, kDuration, kName };

  Granularity() = default;
  static Granularity Simple(Kind kind);

  // OfPeriod, by what the period is made of.
  absl::Status CutBySum();
  absl::Status CutByMonths();
  absl::Status CutByDays();
  absl::Status CutByClock();
  void Cut(Kind kind, int64_t step, int64_t anchor);
  int64_t LocalOrigin() const;
  Instant FirstBound() const;

  // Bound number `index` of a calendar of days or months.
  int64_t LocalBound(int64_t index) const;
  Instant Bound(int64_t index) const;
  // The largest index whose bound is at or before `instant`.
  int64_t IndexOf(Instant instant) const;
  Interval LocalClockBucket(Instant instant) const;
  bool HasItsMidnights(int64_t monday) const;
  // No bucket is longer.
  int64_t LongestMillis() const;
  bool HasLocalBounds() const { return kind_ == Kind::kDays || kind_ == Kind::kMonths; }
  bool NestsOnElapsed(const Granularity& coarser) const;
  bool NestsOnCalendar(const Granularity& coarser) const;

  Kind kind_ = Kind::kNone;
  Form form_ = Form::kPeriod;
  int64_t step_ = 1;
  int64_t anchor_ = 0;
  // Druid counts hours in a way of its own (DruidAgrees).
  bool counts_hours_ = false;
  // And finds a single day, week, month or year without an origin by rounding the clock
  // time, where it counts from the origin for all others; a week from its Monday.
  bool rounds_clock_ = false;
  bool starts_on_monday_ = false;
  Period period_;
  std::string zone_name_ = "UTC";
  absl::TimeZone zone_ = absl::UTCTimeZone();
  std::optional<Instant> origin_;
};

inline std::ostream& operator<<(std::ostream& out, const Granularity& granularity) {
  return out << granularity.ToString();
}

}  // namespace interlock
