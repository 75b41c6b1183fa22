// A half-open stretch of time [start, end).
//
// An empty interval (start == end) is an interval: Druid takes it, so it is parsed and
// printed; who must not act on nothing asks empty(). What overlaps, contains and abuts
// what is decided as by Joda-Time, so as by Druid, for empty ones too. A value type; no
// thread rule.
#pragma once

#include <compare>
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

class Interval {
 public:
  // [epoch, epoch), empty.
  constexpr Interval() = default;

  // INVALID_ARGUMENT (INTERVAL_ENDS_BEFORE_START, INSTANT_OUTSIDE_ETERNITY).
  static absl::StatusOr<Interval> Of(Instant start, Instant end);

  // From the earlier of the two to the later.
  static constexpr Interval Between(Instant a, Instant b) {
    return a < b ? Interval(a, b) : Interval(b, a);
  }

  // `start/end`, `start/period` or `period/end`; an instant without an offset is UTC, and
  // takes nothing over from the other side. The form with `_` of Druid's paths is not one.
  // INVALID_ARGUMENT (INTERVAL_MALFORMED, INSTANT_MALFORMED, PERIOD_MALFORMED,
  // INTERVAL_ENDS_BEFORE_START, INSTANT_OUTSIDE_ETERNITY).
  static absl::StatusOr<Interval> Parse(absl::string_view text);

  // The same, and a lone year, month, week, day, hour, minute or second, which means all
  // of it: `2026-07-16T13` is 2026-07-16T13:00/2026-07-16T14:00.
  static absl::StatusOr<Interval> ParseShorthand(absl::string_view text);

  // All the time that Druid knows.
  static constexpr Interval Eternity() { return Interval(Instant::kMin, Instant::kMax); }

  constexpr Instant start() const { return start_; }
  constexpr Instant end() const { return end_; }
  constexpr bool empty() const { return start_ == end_; }
  constexpr int64_t millis() const { return end_.millis() - start_.millis(); }
  absl::Duration length() const { return end_ - start_; }

  constexpr bool Contains(Instant instant) const { return start_ <= instant && instant < end_; }
  // An empty interval is contained where its instant is; an empty one contains nothing.
  constexpr bool Contains(const Interval& other) const {
    return start_ <= other.start_ && other.start_ < end_ && other.end_ <= end_;
  }
  // An empty interval overlaps what it lies inside of, not what it merely touches.
  constexpr bool Overlaps(const Interval& other) const {
    return start_ < other.end_ && other.start_ < end_;
  }
  // They overlap, and each has a part that the other has not: as a week that goes on into
  // the next month and that month do.
  constexpr bool Crosses(const Interval& other) const {
    return Overlaps(other) && !Contains(other) && !other.Contains(*this);
  }
  // They touch without overlapping.
  constexpr bool Abuts(const Interval& other) const {
    return end_ == other.start_ || other.end_ == start_;
  }
  // The common part, where they overlap.
  std::optional<Interval> Intersect(const Interval& other) const;

  // `2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z`
  std::string ToString() const;

  // By start, then by end.
  friend constexpr bool operator==(const Interval&, const Interval&) = default;
  friend constexpr std::strong_ordering operator<=>(const Interval& a, const Interval& b) {
    const std::strong_ordering by_start = a.start_ <=> b.start_;
    return std::is_eq(by_start) ? a.end_ <=> b.end_ : by_start;
  }

  template <typename H>
  friend H AbslHashValue(H state, const Interval& i) {
    return H::combine(std::move(state), i.start_, i.end_);
  }

 private:
  friend class Granularity;
  constexpr Interval(Instant start, Instant end) : start_(start), end_(end) {}

  Instant start_, end_;
};

inline std::ostream& operator<<(std::ostream& out, const Interval& interval) {
  return out << interval.ToString();
}

}  // namespace interlock
