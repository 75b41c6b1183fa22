// Granularity: where buckets begin and end.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/time/granularity.h"
#include "lib/time/time_errors.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

constexpr int64_t kLongestMonth = 31 * kMillisPerDay;
// No zone's clocks were ever moved further at once.
constexpr int64_t kLargestShift = kMillisPerDay;

int64_t FloorTo(int64_t value, int64_t step) { return FloorDiv(value, step) * step; }

// Whether the offset changed in between by what is no multiple of `step`.
bool GridMoved(Instant a, Instant b, int64_t step, const absl::TimeZone& zone) {
  const int64_t offset_a = LocalOf(a, zone) - a.millis();
  const int64_t offset_b = LocalOf(b, zone) - b.millis();
  return (offset_a - offset_b) % step != 0;
}

}  // namespace

int64_t Granularity::LocalBound(int64_t index) const {
  return kind_ == Kind::kMonths ? AddMonths(anchor_, index * step_) : anchor_ + index * step_;
}

Instant Granularity::Bound(int64_t index) const { return Resolve(LocalBound(index), zone_); }

int64_t Granularity::IndexOf(Instant instant) const {
  const int64_t local = LocalOf(instant, zone_);
  int64_t index = kind_ == Kind::kMonths ? FloorDiv(MonthOf(local) - MonthOf(anchor_), step_)
                                         : FloorDiv(local - anchor_, step_);
  // Off by one where the origin lies within its month, or the clocks were changed.
  while (Bound(index) > instant) --index;
  while (Bound(index + 1) <= instant) ++index;
  return index;
}

// Where the offset changed by what is no multiple of the step, the change itself is a
// bound: one bucket ends early or begins late, and none overlaps another.
Interval Granularity::LocalClockBucket(Instant instant) const {
  const int64_t offset = LocalOf(instant, zone_) - instant.millis();
  const auto start_millis = FloorTo(instant.millis() + offset, step_) - offset;
  Instant start = Instant::FromMillis(start_millis);
  Instant end = Instant::FromMillis(start_millis + step_);
  absl::TimeZone::CivilTransition change;
  if (GridMoved(start, instant, step_, zone_) &&
      zone_.PrevTransition((instant + absl::Seconds(1)).ToTime(), &change)) {
    start = Instant::FromTime(zone_.At(change.to).trans);
  }
  if (GridMoved(instant, end, step_, zone_) && zone_.NextTransition(instant.ToTime(), &change)) {
    end = Instant::FromTime(zone_.At(change.to).trans);
  }
  return Interval(start, end);
}

Interval Granularity::Bucket(Instant instant) const {
  switch (kind_) {
    case Kind::kAll:
      return Interval::Eternity();
    case Kind::kNone:
      return Interval(instant, Instant::FromMillis(instant.millis() + 1));
    case Kind::kElapsed: {
      const int64_t start = anchor_ + FloorTo(instant.millis() - anchor_, step_);
      return Interval(Instant::FromMillis(start), Instant::FromMillis(start + step_));
    }
    case Kind::kLocalClock:
      return LocalClockBucket(instant);
    case Kind::kDays:
    case Kind::kMonths:
      break;
  }
  const int64_t index = IndexOf(instant);
  return Interval(Bound(index), Bound(index + 1));
}

Instant Granularity::Ceil(Instant instant) const {
  const Interval bucket = Bucket(instant);
  return bucket.start() == instant ? instant : bucket.end();
}

bool Granularity::Aligned(const Interval& interval) const {
  if (kind_ == Kind::kAll) return interval == Interval::Eternity();
  return Floor(interval.start()) == interval.start() && Floor(interval.end()) == interval.end();
}

Interval Granularity::Widen(const Interval& interval) const {
  if (kind_ == Kind::kAll) return Interval::Eternity();
  return Interval(Floor(interval.start()), Ceil(interval.end()));
}

std::optional<Interval> Granularity::Shrink(const Interval& interval) const {
  if (kind_ == Kind::kAll) {
    return Aligned(interval) ? std::optional(interval) : std::nullopt;
  }
  const Instant start = Ceil(interval.start());
  const Instant end = Floor(interval.end());
  if (start >= end) return std::nullopt;
  return Interval(start, end);
}

// The same number of buckets, moved back or on to the nearest bounds; or, where the ends
// lie differently in their buckets, what is inside of it and what is around it.
absl::Status Granularity::CheckAligned(const Interval& interval) const {
  if (Aligned(interval)) return absl::OkStatus();
  const Interval around = Widen(interval);
  if (kind_ == Kind::kAll) return Misaligned(interval.ToString(), "ALL", around.ToString());
  std::vector<Interval> nearest;
  const Interval back(Floor(interval.start()), Floor(interval.end()));
  const Interval on(Ceil(interval.start()), Ceil(interval.end()));
  for (const Interval& candidate : {back, on, around}) {
    const bool known = std::find(nearest.begin(), nearest.end(), candidate) != nearest.end();
    if (!candidate.empty() && !known) nearest.push_back(candidate);
  }
  std::string list;
  for (const Interval& candidate : nearest) {
    absl::StrAppend(&list, list.empty() ? "" : " or ", candidate.ToString());
  }
  return Misaligned(interval.ToString(), ToString(), list);
}

int64_t Granularity::LongestMillis() const {
  switch (kind_) {
    case Kind::kMonths:
      return step_ * kLongestMonth + kLargestShift;
    case Kind::kDays:
      return step_ + kLargestShift;
    default:
      return step_;
  }
}

absl::StatusOr<int64_t> Granularity::Count(const Interval& interval, int64_t limit) const {
  if (interval.empty()) return 0;
  const auto too_many = [&](int64_t at_least) {
    return TooManyPartitions(interval.ToString(), ToString(), at_least, limit);
  };
  if (kind_ == Kind::kAll) return limit >= 1 ? absl::StatusOr<int64_t>(1) : too_many(1);
  const int64_t at_least = (interval.millis() - 1) / LongestMillis() + 1;
  if (at_least > limit) return too_many(at_least);
  const Instant last = Instant::FromMillis(interval.end().millis() - 1);
  if (kind_ == Kind::kElapsed || kind_ == Kind::kNone) {
    const int64_t count = (Floor(last).millis() - Floor(interval.start()).millis()) / step_ + 1;
    if (count > limit) return too_many(count);
    return count;
  }
  int64_t count = 0;
  for (Instant at = interval.start(); at < interval.end(); at = Bucket(at).end()) {
    if (++count > limit) return too_many(count);
  }
  return count;
}

absl::StatusOr<std::vector<Interval>> Granularity::Partitions(const Interval& interval,
                                                              int64_t limit) const {
  const absl::StatusOr<int64_t> count = Count(interval, limit);
  if (!count.ok()) return count.status();
  if (absl::Status aligned = CheckAligned(interval); !aligned.ok()) return aligned;
  std::vector<Interval> partitions;
  partitions.reserve(*count);
  for (Instant at = interval.start(); at < interval.end(); at = partitions.back().end()) {
    const Interval bucket = Bucket(at);
    if (!DruidAgrees(bucket)) {
      return UnsupportedGranularity(
          ToString(), absl::StrCat("at ", bucket.ToString(),
                                   " Druid's own buckets overlap each other, as the zone's clocks "
                                   "change there; a granularity in UTC would do"));
    }
    partitions.push_back(bucket);
  }
  return partitions;
}

// Where PeriodGranularity.java goes its own way; measured, see tests/lib/time/joda.
bool Granularity::DruidAgrees(const Interval& bucket) const {
  const Instant start = bucket.start();
  if (HasLocalBounds()) {
    // Druid steps on from the instant, so from the clock time after a gap that the bound
    // lies in; and where a bound happens twice, it may start at either.
    if (period_.AddTo(start, zone_, 1) != bucket.end()) return false;
    const int64_t index = IndexOf(start);
    const int64_t bound = LocalBound(index);
    if (InsideTwice(bound, zone_) || InsideGap(LocalBound(index + 1), zone_)) return false;
    if (rounds_clock_ && HappensTwice(bound, zone_)) return false;
    return !starts_on_monday_ || HasItsMidnights(bound);
  }
  if (kind_ == Kind::kLocalClock) {
    return bucket.millis() == step_ && LocalOf(start, zone_) % step_ == 0;
  }
  // Hours before the origin are rounded up where the origin is not after 1970, and hours
  // after it are cut to the full hour where it is before.
  if (!counts_hours_ || anchor_ > 0) return true;
  if (start.millis() < anchor_) return false;
  return anchor_ == 0 || LocalOf(start, zone_) % kMillisPerHour == 0;
}

// For a week Druid goes from an instant to its midnight, and from there back to Monday: a
// day whose midnight is in a gap takes the whole week along.
bool Granularity::HasItsMidnights(int64_t monday) const {
  for (int day = 1; day < 7; ++day) {
    if (InGap(monday + day * kMillisPerDay, zone_)) return false;
  }
  return true;
}

}  // namespace interlock
