#include "lib/verify/calendar.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::verify {
namespace {

// Coarsest first: an hour's chunk is a bucket of no other; a day's of DAY alone.
constexpr const char* kNames[] = {"YEAR",          "QUARTER",        "MONTH",      "WEEK",
                                  "DAY",           "EIGHT_HOUR",     "SIX_HOUR",   "HOUR",
                                  "THIRTY_MINUTE", "FIFTEEN_MINUTE", "TEN_MINUTE", "FIVE_MINUTE",
                                  "MINUTE",        "SECOND"};

absl::Status TooMany(int64_t limit) {
  return WithReason(absl::OutOfRangeError(absl::StrCat("more than ", limit,
                                                       " partitions; ask for a shorter interval")),
                    "LIMIT_EXCEEDED", {{"limit", absl::StrCat(limit)}});
}

// Chunks that overlap are one partition: what hides a part of another is judged with it.
std::vector<Interval> ChunksAndGaps(const std::vector<druid::Slice>& slices,
                                    const Interval& interval) {
  std::vector<Interval> chunks;
  for (const auto& slice : slices) {
    Interval chunk = *slice.chunk.Intersect(interval);
    while (!chunks.empty() && chunks.back().end() > chunk.start()) {
      chunk = Interval::Between(std::min(chunks.back().start(), chunk.start()),
                                std::max(chunks.back().end(), chunk.end()));
      chunks.pop_back();
    }
    chunks.push_back(chunk);
  }
  std::vector<Interval> partitions;
  Instant at = interval.start();
  for (const Interval& chunk : chunks) {
    if (at < chunk.start()) partitions.push_back(Interval::Between(at, chunk.start()));
    partitions.push_back(chunk);
    at = chunk.end();
  }
  if (at < interval.end()) partitions.push_back(Interval::Between(at, interval.end()));
  return partitions;
}

}  // namespace

std::optional<Granularity> CalendarOf(const druid::Timeline& timeline, const Interval& interval) {
  const auto slices = timeline.Visible(interval);
  if (slices.empty()) return std::nullopt;
  for (const char* name : kNames) {
    const Granularity granularity = *Granularity::FromName(name);
    const bool all = std::all_of(slices.begin(), slices.end(), [&](const druid::Slice& slice) {
      return granularity.Bucket(slice.chunk.start()) == slice.chunk;
    });
    if (all) return granularity;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<Interval>> PartitionsOf(const druid::Timeline& timeline,
                                                   const Interval& interval,
                                                   const std::optional<Granularity>& calendar,
                                                   int64_t limit) {
  if (!calendar) {
    auto partitions = ChunksAndGaps(timeline.Visible(interval), interval);
    if (static_cast<int64_t>(partitions.size()) > limit) return TooMany(limit);
    return partitions;
  }
  auto buckets = calendar->Partitions(calendar->Widen(interval), limit);
  if (!buckets.ok()) return TooMany(limit);
  for (auto& bucket : *buckets) bucket = *bucket.Intersect(interval);
  return buckets;
}

}  // namespace interlock::verify
