// Granularity: which calendars nest in which.
//
// Nesting means that every bound of the coarser one is a bound of the finer one. Bounds
// are compared as residues: all bounds of a calendar in a zone are its local time of day
// minus one of the zone's offsets.
#include <algorithm>

#include "lib/time/granularity.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

// Before 1970 zones had offsets of odd seconds; after 2100 their rules only repeat.
constexpr int kFirstYear = 1970;
constexpr int kLastYear = 2100;

std::vector<int64_t> OffsetsOf(const absl::TimeZone& zone) {
  absl::Time at = absl::FromCivil(absl::CivilYear(kFirstYear), absl::UTCTimeZone());
  const absl::Time end = absl::FromCivil(absl::CivilYear(kLastYear), absl::UTCTimeZone());
  std::vector<int64_t> offsets = {zone.At(at).offset * kMillisPerSecond};
  absl::TimeZone::CivilTransition change;
  while (at < end && zone.NextTransition(at, &change)) {
    at = zone.At(change.to).trans;
    offsets.push_back(zone.At(at).offset * kMillisPerSecond);
  }
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  return offsets;
}

// Two names may stand for one set of rules.
bool SameRules(const absl::TimeZone& a, const absl::TimeZone& b) {
  if (a == b) return true;
  absl::Time at = absl::FromCivil(absl::CivilYear(kFirstYear), absl::UTCTimeZone());
  const absl::Time end = absl::FromCivil(absl::CivilYear(kLastYear), absl::UTCTimeZone());
  while (at < end) {
    if (a.At(at).offset != b.At(at).offset) return false;
    absl::TimeZone::CivilTransition next_a, next_b;
    const bool more = a.NextTransition(at, &next_a);
    if (more != b.NextTransition(at, &next_b)) return false;
    if (!more) return true;
    if (next_a.from != next_b.from || next_a.to != next_b.to) return false;
    at = a.At(next_a.to).trans;
  }
  return true;
}

}  // namespace

// Bounds of this one are every `step_` from each of `mine`, of the other's from each of
// `theirs`.
bool Granularity::NestsOnElapsed(const Granularity& coarser) const {
  if (kind_ == Kind::kLocalClock && coarser.kind_ == Kind::kLocalClock &&
      SameRules(zone_, coarser.zone_)) {
    return coarser.step_ % step_ == 0;
  }
  const int64_t period = coarser.kind_ == Kind::kMonths ? kMillisPerDay : coarser.step_;
  if (period % step_ != 0) return false;
  std::vector<int64_t> mine = {anchor_};
  if (kind_ == Kind::kLocalClock) mine = OffsetsOf(zone_);
  std::vector<int64_t> theirs = {coarser.anchor_};
  if (coarser.kind_ != Kind::kElapsed) {
    theirs = OffsetsOf(coarser.zone_);
    for (int64_t& offset : theirs) offset = coarser.anchor_ - offset;
  }
  const int64_t sign = kind_ == Kind::kLocalClock ? -1 : 1;
  for (const int64_t their : theirs) {
    for (const int64_t my : mine) {
      if ((their - sign * my) % step_ != 0) return false;
    }
  }
  return true;
}

// Both count on their zone's local days.
bool Granularity::NestsOnCalendar(const Granularity& coarser) const {
  if (!SameRules(zone_, coarser.zone_)) return false;
  const bool months = kind_ == Kind::kMonths;
  const bool coarser_months = coarser.kind_ == Kind::kMonths;
  if (months != coarser_months) {
    return !months && step_ == kMillisPerDay && (coarser.anchor_ - anchor_) % kMillisPerDay == 0;
  }
  if (coarser.step_ % step_ != 0) return false;
  if (!months) return (coarser.anchor_ - anchor_) % step_ == 0;
  const int64_t apart = MonthOf(coarser.anchor_) - MonthOf(anchor_);
  return apart % step_ == 0 && AddMonths(anchor_, apart) == coarser.anchor_;
}

bool Granularity::FinerOrEqual(const Granularity& coarser) const {
  if (is_none() || coarser.is_all()) return true;
  if (is_all() || coarser.is_none()) return false;
  if (HasLocalBounds()) return coarser.HasLocalBounds() && NestsOnCalendar(coarser);
  return NestsOnElapsed(coarser);
}

}  // namespace interlock
