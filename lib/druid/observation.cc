#include "lib/druid/observation.h"

#include <set>
#include <utility>

namespace interlock::druid {
namespace {

constexpr int kTries = 2;

std::set<std::string> IdsOf(const std::vector<Segment>& segments) {
  std::set<std::string> ids;
  for (const Segment& segment : segments) ids.insert(segment.id);
  return ids;
}

// Fills `snapshot`; the answer is done, or says what was not.
Answer<Nothing> ReadOnce(Cluster& cluster, const ObserveRequest& request, bool refresh,
                         Snapshot* snapshot) {
  const auto load = cluster.GetLoadStatus(request.datasource, request.interval, refresh);
  if (!load.done()) return Answer<Nothing>::Like(load);
  auto before = cluster.ListUsedSegments(request.datasource, {request.surroundings});
  if (!before.done()) return Answer<Nothing>::Like(before);
  auto rows = cluster.SumRows(request.datasource, request.partitions, request.metrics);
  if (!rows.done()) return Answer<Nothing>::Like(rows);
  const auto after = cluster.ListUsedSegments(request.datasource, {request.surroundings});
  if (!after.done()) return Answer<Nothing>::Like(after);
  snapshot->used = std::move(before.value());
  snapshot->load = load.value();
  snapshot->rows = std::move(rows.value());
  snapshot->changed_meanwhile = IdsOf(snapshot->used) != IdsOf(after.value());
  return Answer<Nothing>::Done({});
}

}  // namespace

Answer<Snapshot> Observe(Cluster& cluster, const ObserveRequest& request, Instant taken) {
  Snapshot snapshot;
  snapshot.datasource = request.datasource;
  snapshot.interval = request.interval;
  snapshot.surroundings = request.surroundings;
  snapshot.taken = taken;
  for (int i = 0; i < kTries; ++i) {
    // What changed meanwhile wants another poll.
    const auto answer = ReadOnce(cluster, request, request.refresh || i > 0, &snapshot);
    if (!answer.done()) return Answer<Snapshot>::Like(answer);
    if (!snapshot.changed_meanwhile) break;
  }
  return Answer<Snapshot>::Done(std::move(snapshot));
}

}  // namespace interlock::druid
