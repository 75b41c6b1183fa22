#include "lib/simulator/marks.h"

#include <algorithm>

namespace interlock::simulator {
namespace {

bool Listed(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Only segments that lie wholly inside the interval.
std::vector<Segment*> Matching(World& world, const std::string& datasource,
                               const MarkFilter& filter) {
  std::vector<Segment*> matching;
  for (Segment* segment : world.segments.All(datasource)) {
    if (filter.interval && !filter.interval->Contains(segment->interval)) continue;
    if (filter.ids && !Listed(*filter.ids, segment->id)) continue;
    const bool versions = filter.versions && world.traits.marks_honour_versions;
    if (versions && !Listed(*filter.versions, segment->version)) continue;
    matching.push_back(segment);
  }
  return matching;
}

}  // namespace

int64_t MarkUnused(World& world, const std::string& datasource, const MarkFilter& filter) {
  int64_t counted = 0;
  const Instant now = world.MarkTime();
  for (Segment* segment : Matching(world, datasource, filter)) {
    const bool by_id = filter.ids.has_value();
    if (!segment->used && world.traits.marks_count_changes && !by_id) continue;
    world.segments.Mark(*segment, false, now);
    ++counted;
  }
  if (counted > 0) world.SegmentsChanged(datasource);
  return counted;
}

int64_t MarkUsed(World& world, const std::string& datasource, const MarkFilter& filter) {
  const std::vector<Segment*> matching = Matching(world, datasource, filter);
  std::vector<const Segment*> all = world.segments.Used(datasource);
  for (const Segment* segment : matching) {
    if (!segment->used) all.push_back(segment);
  }
  const std::vector<Slice> visible = VisibleSlices(all);
  int64_t changed = 0;
  const Instant now = world.MarkTime();
  for (Segment* segment : matching) {
    if (segment->used || Overshadowed(*segment, visible)) continue;
    world.segments.Mark(*segment, true, now);
    ++changed;
  }
  if (changed > 0) world.SegmentsChanged(datasource);
  return changed;
}

bool MarkOne(World& world, const std::string& datasource, const std::string& id, bool used) {
  Segment* segment = world.segments.Find(datasource, id);
  if (segment == nullptr) return false;
  world.segments.Mark(*segment, used, world.MarkTime());
  world.SegmentsChanged(datasource);
  return true;
}

}  // namespace interlock::simulator
