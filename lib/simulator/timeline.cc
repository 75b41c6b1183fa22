#include "lib/simulator/timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace interlock::simulator {
namespace {

// All segments of one interval and version.
struct Generation {
  Interval interval;
  std::string version;
  std::vector<const Segment*> segments;

  bool Complete() const {
    std::set<int> there;
    int core = 0;
    for (const Segment* segment : segments) {
      there.insert(segment->partition);
      core = std::max(core, segment->core_partitions);
    }
    // Tombstones count none in newer versions and one in older ones, and hold alone.
    for (int partition = 0; partition < core; ++partition) {
      if (there.count(partition) == 0) return false;
    }
    return true;
  }
};

std::vector<Generation> CompleteGenerations(const std::vector<const Segment*>& segments) {
  std::map<std::pair<Interval, std::string>, Generation> generations;
  for (const Segment* segment : segments) {
    Generation& generation = generations[{segment->interval, segment->version}];
    generation.interval = segment->interval;
    generation.version = segment->version;
    generation.segments.push_back(segment);
  }
  std::vector<Generation> complete;
  for (auto& [key, generation] : generations) {
    if (generation.Complete()) complete.push_back(std::move(generation));
  }
  return complete;
}

struct HigherVersionFirst {
  bool operator()(const Generation* a, const Generation* b) const {
    return std::tie(a->version, b->interval) > std::tie(b->version, a->interval);
  }
};

void Extend(std::vector<Slice>& slices, Instant from, Instant to, const Generation& top) {
  if (!slices.empty() && slices.back().interval.end() == from &&
      slices.back().segments == top.segments) {
    from = slices.back().interval.start();
    slices.pop_back();
  }
  slices.push_back({*Interval::Of(from, to), top.version, top.segments});
}

}  // namespace

std::vector<Slice> VisibleSlices(const std::vector<const Segment*>& segments) {
  const std::vector<Generation> generations = CompleteGenerations(segments);
  std::map<Instant, std::vector<const Generation*>> starting, ending;
  std::set<Instant> ends;
  for (const Generation& generation : generations) {
    if (generation.interval.empty()) continue;
    starting[generation.interval.start()].push_back(&generation);
    ending[generation.interval.end()].push_back(&generation);
    ends.insert({generation.interval.start(), generation.interval.end()});
  }
  std::vector<Slice> slices;
  std::set<const Generation*, HigherVersionFirst> open;
  Instant since;
  for (const Instant& at : ends) {
    if (!open.empty()) Extend(slices, since, at, **open.begin());
    for (const Generation* generation : ending[at]) open.erase(generation);
    for (const Generation* generation : starting[at]) open.insert(generation);
    since = at;
  }
  return slices;
}

bool Overshadowed(const Segment& segment, const std::vector<Slice>& slices) {
  Instant covered = segment.interval.start();
  auto slice = std::upper_bound(
      slices.begin(), slices.end(), covered,
      [](Instant instant, const Slice& slice) { return instant < slice.interval.end(); });
  for (; slice != slices.end() && covered < segment.interval.end(); ++slice) {
    if (slice->interval.start() > covered || slice->version <= segment.version) return false;
    covered = slice->interval.end();
  }
  return covered >= segment.interval.end();
}

}  // namespace interlock::simulator
