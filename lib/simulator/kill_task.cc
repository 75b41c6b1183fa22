#include "lib/simulator/kill_task.h"

#include <algorithm>
#include <vector>

#include "lib/simulator/report.h"
#include "lib/simulator/world.h"

namespace interlock::simulator {
namespace {

bool Doomed(const KillSpec& kill, const Segment& segment) {
  if (!kill.interval.Contains(segment.interval)) return false;
  if (kill.max_status_updated && segment.status_updated > *kill.max_status_updated) return false;
  return !kill.versions || std::find(kill.versions->begin(), kill.versions->end(),
                                     segment.version) != kill.versions->end();
}

std::vector<Segment> NextBatch(const World& world, const Task& task, int64_t most) {
  std::vector<Segment> batch;
  for (const Segment* segment : world.segments.Unused(task.datasource)) {
    if (static_cast<int64_t>(batch.size()) == most) break;
    if (Doomed(*task.kill, *segment)) batch.push_back(*segment);
  }
  return batch;
}

int64_t MarkUnused(World& world, const Task& task) {
  int64_t marked = 0;
  for (Segment* segment : world.segments.All(task.datasource)) {
    if (!segment->used || !task.kill->interval.Contains(segment->interval)) continue;
    world.segments.Mark(*segment, false, world.now());
    ++marked;
  }
  return marked;
}

// A file that a segment which stays names too is spared, and not counted.
bool Shared(const World& world, const Segment& segment) {
  if (segment.tombstone) return false;
  for (const std::string& datasource : world.segments.Datasources()) {
    for (bool used : {true, false}) {
      for (const Segment* other :
           used ? world.segments.Used(datasource) : world.segments.Unused(datasource)) {
        if (other->load_spec_json == segment.load_spec_json) return true;
      }
    }
  }
  return false;
}

}  // namespace

absl::Status Kill(World& world, Task& task) {
  const KillSpec& kill = *task.kill;
  KillCounts counts;
  if (kill.mark_as_unused) counts.marked = MarkUnused(world, task);
  absl::Status removed = absl::OkStatus();
  int64_t taken = 0;
  while (removed.ok()) {
    const int64_t left = kill.limit ? *kill.limit - taken : kill.batch_size;
    const std::vector<Segment> batch = NextBatch(world, task, std::min(left, kill.batch_size));
    ++counts.batches;
    taken += static_cast<int64_t>(batch.size());
    for (const Segment& segment : batch) world.segments.Remove(task.datasource, segment.id);
    for (const Segment& segment : batch) {
      if (Shared(world, segment)) continue;
      removed = world.deep_storage.Remove(segment);
      if (!removed.ok()) break;
      ++counts.killed;
    }
    if (batch.empty() || (kill.limit && taken >= *kill.limit)) break;
  }
  if (removed.ok()) task.report_json = KillReport(task, world.traits, counts);
  world.SegmentsChanged(task.datasource);
  return removed;
}

}  // namespace interlock::simulator
