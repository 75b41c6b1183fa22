#include "lib/verify/unseen.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/time/interval_set.h"

namespace interlock::verify {
namespace {

using druid::Segment;
using druid::Slice;

// All of `part` is seen in newer versions.
bool IsHiddenIn(const Interval& part, const std::string& version,
                const std::vector<Slice>& slices) {
  std::vector<Interval> newer;
  for (const Slice& slice : slices) {
    if (slice.version > version) newer.push_back(slice.interval);
  }
  return Covers(Condense(std::move(newer)), {part});
}

std::string SeenVersions(const std::vector<Slice>& slices) {
  std::vector<std::string> versions;
  for (const Slice& slice : slices) {
    if (std::find(versions.begin(), versions.end(), slice.version) == versions.end()) {
      versions.push_back(slice.version);
    }
  }
  return absl::StrJoin(versions, ", ");
}

Finding Incomplete(const druid::Generation& generation, const std::vector<Slice>& slices) {
  const auto core = std::count_if(generation.segments.begin(), generation.segments.end(),
                                  [](const Segment* segment) { return !segment->appended(); });
  std::vector<std::string> ids;
  for (const Segment* segment : generation.segments) ids.push_back(segment->id);
  Finding finding = MakeFinding(
      Verdict::kIncompletePartitionSet,
      absl::StrCat("version ", generation.version, " of ", generation.interval.ToString(), " has ",
                   core, " of ", generation.segments.front()->shard.core_partitions,
                   " core partitions; ",
                   slices.empty() ? "nothing is seen" : "seen is " + SeenVersions(slices)),
      std::move(ids));
  if (slices.empty()) {
    finding.next =
        "its rows are not seen: have its missing partitions marked used again where they are "
        "unused, or run the job again";
  }
  return finding;
}

// A version is its lock's time: a task may take hours from there to publish.
std::optional<Instant> HiddenSince(const Segment& segment, const std::vector<Slice>& slices) {
  std::optional<Instant> since;
  for (const Slice& slice : slices) {
    if (slice.version <= segment.version || !slice.interval.Overlaps(segment.interval)) continue;
    const auto written = Instant::Parse(slice.version);
    if (written.ok()) since = std::max(since.value_or(*written), *written);
  }
  return since;
}

}  // namespace

std::vector<Finding> JudgeIncomplete(const Unseen& here) {
  std::vector<Finding> findings;
  for (const druid::Generation& generation : here.timeline.Incomplete()) {
    const auto part = generation.interval.Intersect(here.partition);
    // One that newer, complete versions hide anyway is rubbish, not a danger.
    if (!part || IsHiddenIn(*part, generation.version, here.slices)) continue;
    findings.push_back(Incomplete(generation, here.slices));
  }
  return findings;
}

Hidden LookForHidden(const Unseen& here, const std::optional<Instant>& none_hidden_at) {
  Hidden hidden;
  for (const Segment& segment : here.timeline.Hidden()) {
    if (!segment.interval.Overlaps(here.partition)) continue;
    hidden.versions.insert(segment.version);
    auto since = HiddenSince(segment, here.slices);
    if (since && none_hidden_at) since = std::max(*since, *none_hidden_at);
    hidden.since.emplace(segment.id, since);
  }
  return hidden;
}

std::vector<Finding> JudgeRetired(const Unseen& here, const Hidden& hidden) {
  std::vector<Finding> findings;
  if (!hidden.versions.empty()) {
    findings.push_back(
        MakeFinding(Verdict::kNotRetired,
                    absl::StrCat("used and hidden: ", absl::StrJoin(hidden.versions, ", "))));
  }
  std::vector<std::string> beyond;
  for (const Segment& segment : here.timeline.segments()) {
    const auto part = segment.interval.Intersect(here.partition);
    if (!part || hidden.since.count(segment.id) != 0) continue;
    if (IsHiddenIn(*part, segment.version, here.slices)) beyond.push_back(segment.id);
  }
  if (beyond.empty()) return findings;
  findings.push_back(
      MakeFinding(Verdict::kNotRetired,
                  absl::StrCat(beyond.size(), " used segments of an older version reach beyond ",
                               here.partition.ToString(), ", and are hidden in it"),
                  beyond, 1, kHiddenHereOnly));
  findings.back().next =
      "verify the whole of that older chunk: where queries read the rest of it, recompute that "
      "too, or leave it at level SERVED";
  return findings;
}

}  // namespace interlock::verify
