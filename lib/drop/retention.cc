#include "lib/drop/retention.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/drop/drop_errors.h"
#include "lib/time/interval_set.h"
#include "lib/time/zoned.h"

namespace interlock::drop {
namespace {

constexpr int64_t kDayMillis = 86'400'000;
constexpr absl::Duration kShortestSchedule = absl::Minutes(1);

// 2000-01-01 has all months and leap days before it: a period that moves it back is above
// zero, whatever it is made of.
const Instant kSomeDay = Instant::FromMillis(946'684'800'000);

absl::Duration LengthOf(const Period& period) {
  return kSomeDay - period.AddTo(kSomeDay, absl::UTCTimeZone(), -1);
}

absl::Status CheckNames(const RetentionPolicy& policy) {
  const auto plain = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  };
  const std::string& name = policy.name;
  if (name.empty() || name.size() > kMaxPolicyNameBytes ||
      !std::all_of(name.begin(), name.end(), plain)) {
    return InvalidPolicyName(name);
  }
  const std::string& pattern = policy.datasource_pattern;
  if (pattern.empty() || pattern.size() > kMaxPatternBytes) return InvalidPattern(pattern);
  return absl::OkStatus();
}

absl::Status CheckPeriods(const RetentionPolicy& policy) {
  if (LengthOf(policy.age) <= absl::ZeroDuration()) {
    return InvalidPeriod("age", policy.age.ToString(), "a period above zero, like P2Y");
  }
  if (LengthOf(policy.schedule) < kShortestSchedule) {
    return InvalidPeriod("schedule", policy.schedule.ToString(), "at least PT1M, like P1D");
  }
  if (!LoadZone(policy.time_zone).ok()) {
    return InvalidPeriod("time_zone", policy.time_zone, "an IANA name, like Europe/Zurich");
  }
  return absl::OkStatus();
}

absl::Status CheckLengths(const RetentionPolicy& policy, const Options& options) {
  if (policy.window && *policy.window < options.min_window) {
    return WindowTooShort(*policy.window, options.min_window);
  }
  if (policy.window && *policy.window > options.max_window) {
    return WindowTooLong(*policy.window, options.max_window);
  }
  // Of a pattern with a star the general floor: each datasource's own counts as well later.
  const absl::Duration least = options.FloorOf(policy.datasource_pattern);
  if (policy.floor && *policy.floor < least) return FloorTooLow(*policy.floor, least);
  return absl::OkStatus();
}

absl::Status CheckCaps(const RetentionPolicy& policy) {
  if (policy.max_segments < 1) {
    return InvalidCap("max_segments", absl::StrCat(policy.max_segments), "1 or more");
  }
  if (policy.max_bytes < 0) {
    return InvalidCap("max_bytes", absl::StrCat(policy.max_bytes), "0 for no cap, or more");
  }
  if (!(policy.max_share > 0 && policy.max_share <= 1)) {
    return InvalidCap("max_share", absl::StrCat(policy.max_share), "above 0, and 1 at most");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPolicy(const RetentionPolicy& policy, const Options& options) {
  absl::Status status = CheckNames(policy);
  if (status.ok()) status = CheckPeriods(policy);
  if (status.ok()) status = CheckLengths(policy, options);
  if (status.ok()) status = CheckCaps(policy);
  return status;
}

Instant OldBefore(const RetentionPolicy& policy, const std::string& datasource,
                  const Options& options, Instant now) {
  const absl::StatusOr<absl::TimeZone> zone = LoadZone(policy.time_zone);
  const Instant by_age = policy.age.AddTo(now, zone.ok() ? *zone : absl::UTCTimeZone(), -1);
  const absl::Duration floor =
      std::max(options.FloorOf(datasource), policy.floor.value_or(absl::ZeroDuration()));
  return std::min(by_age, now - floor);
}

Instant NextRun(const RetentionPolicy& policy, Instant last, Instant now) {
  const absl::StatusOr<absl::TimeZone> zone = LoadZone(policy.time_zone);
  const absl::TimeZone in = zone.ok() ? *zone : absl::UTCTimeZone();
  const Instant next = policy.schedule.AddTo(last, in, 1);
  // After a long pause not once for each run that was missed.
  return next > now ? next : policy.schedule.AddTo(now, in, 1);
}

Share OldestOf(const OldData& old) {
  Share share;
  int64_t millis = 0;
  for (const auto& [interval, time] : old) {
    std::vector<Interval> with = share.intervals;
    with.push_back(interval);
    with = Condense(std::move(with));
    millis = TotalMillis(with);
    if (share.segments + time.segments > kMaxSegments ||
        static_cast<int64_t>(with.size()) > kMaxIntervals || millis > kMaxSpanDays * kDayMillis) {
      share.all = false;
      return share;
    }
    share.intervals = std::move(with);
    share.segments += time.segments;
    share.bytes += time.bytes;
  }
  return share;
}

void Exclude(const std::vector<Interval>& excluded, OldData& old) {
  const std::vector<Interval> condensed = Condense(excluded);
  for (auto it = old.begin(); it != old.end();) {
    it = Intersect(condensed, {it->first}).empty() ? std::next(it) : old.erase(it);
  }
}

std::string CapReached(const RetentionPolicy& policy, const Spent& spent, const Share& next,
                       int64_t total_bytes) {
  const int64_t segments = spent.segments + next.segments;
  if (segments > policy.max_segments || !next.all) {
    return absl::StrCat("policy ", policy.name, ": this run would drop ", segments,
                        next.all ? "" : " or more", " segments, its cap is ", policy.max_segments);
  }
  const int64_t bytes = spent.bytes + next.bytes;
  if (policy.max_bytes > 0 && bytes > policy.max_bytes) {
    return absl::StrCat("policy ", policy.name, ": this run would drop ", bytes,
                        " bytes, its cap is ", policy.max_bytes);
  }
  const double total = static_cast<double>(total_bytes);
  if (total_bytes > 0 && static_cast<double>(next.bytes) > policy.max_share * total) {
    return absl::StrFormat(
        "policy %s: this run would drop %.3g of the datasource's bytes, its "
        "cap is %.3g",
        policy.name, static_cast<double>(next.bytes) / total, policy.max_share);
  }
  return "";
}

}  // namespace interlock::drop
