// A point in time: milliseconds since 1970-01-01T00:00:00Z, as Druid counts them.
//
// Parsed from and printed as ISO-8601 the way Druid (Joda-Time) does it, so that a text
// that went through Interlock is byte for byte the one that Druid would print. A value
// type: copy it freely; no thread rule.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace interlock {

class Instant {
 public:
  // The epoch.
  constexpr Instant() = default;

  static constexpr Instant FromMillis(int64_t millis) { return Instant(millis); }

  // Rounded down to the millisecond; what lies outside of eternity becomes its end.
  static Instant FromTime(absl::Time time);

  // `2026-07-16T13:00:00.000Z` and every shorter or other form that Druid takes: `2026`,
  // `2026-07`, `2026-07-16T13`, `2026-W29-4`, `2026-197`, fractions of the last field,
  // offsets `Z`, `+02`, `+02:00`, `+0200`, years with a sign or up to nine digits, and a
  // bare number of milliseconds where it is no year. Without an offset it is UTC.
  // INVALID_ARGUMENT (INSTANT_MALFORMED) says what was found and what would do.
  static absl::StatusOr<Instant> Parse(absl::string_view text);

  constexpr int64_t millis() const { return millis_; }
  absl::Time ToTime() const { return absl::FromUnixMillis(millis_); }

  // As Druid prints: `2026-07-16T13:00:00.000Z`, `-146136543-09-08T08:23:32.096Z`.
  std::string ToString() const;

  // The ends of Druid's eternity (JodaUtils: half of what 64 bits hold, so that
  // differences never overflow). They cannot say constexpr before the class is complete,
  // which is what the naming rule goes by.
  static const Instant kMin;  // NOLINT(readability-identifier-naming)
  static const Instant kMax;  // NOLINT(readability-identifier-naming)

  friend constexpr bool operator==(const Instant&, const Instant&) = default;
  friend constexpr std::strong_ordering operator<=>(const Instant& a, const Instant& b) {
    return a.millis_ <=> b.millis_;
  }

  template <typename H>
  friend H AbslHashValue(H state, const Instant& instant) {
    return H::combine(std::move(state), instant.millis_);
  }

 private:
  explicit constexpr Instant(int64_t millis) : millis_(millis) {}

  int64_t millis_ = 0;
};

inline constexpr Instant Instant::kMin =
    Instant::FromMillis(std::numeric_limits<int64_t>::min() / 2);
inline constexpr Instant Instant::kMax =
    Instant::FromMillis(std::numeric_limits<int64_t>::max() / 2);

// Sums stop at the ends of eternity instead of wrapping around; parts of a millisecond
// are cut off towards the past.
Instant operator+(Instant instant, absl::Duration duration);
Instant operator-(Instant instant, absl::Duration duration);
absl::Duration operator-(Instant later, Instant earlier);
inline Instant& operator+=(Instant& instant, absl::Duration d) { return instant = instant + d; }
inline Instant& operator-=(Instant& instant, absl::Duration d) { return instant = instant - d; }

inline std::ostream& operator<<(std::ostream& out, Instant instant) {
  return out << instant.ToString();
}

}  // namespace interlock
