#include "lib/backfill/next_door.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "lib/backfill/known_changes.h"
#include "lib/backfill/rows.h"
#include "lib/druid/rules.h"
#include "lib/druid/timeline.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

// One edge: the attempt that was proven there, and what is known to have happened since.
struct Edge {
  Attempt attempt;
  std::vector<Interval> beside;
  std::vector<verify::KnownChange> known;
};

Interval HullOf(const std::vector<Interval>& condensed) {
  return Interval::Between(condensed.front().start(), condensed.back().end());
}

// The newest attempt of each edge unit whose effect was judged.
absl::StatusOr<std::vector<Edge>> EdgesOf(store::Transaction& tx, const std::string& backfill_id,
                                          const Interval& interval) {
  auto units = ProvenUnitsAtEdges(tx, backfill_id, interval);
  if (!units.ok()) return units.status();
  std::vector<Edge> edges;
  for (const int64_t unit : *units) {
    auto attempts = ReadAttempts(tx, backfill_id, unit);
    if (!attempts.ok()) return attempts.status();
    for (auto attempt = attempts->rbegin(); attempt != attempts->rend(); ++attempt) {
      if (!attempt->neighbours_after || !attempt->settled) continue;
      Edge edge;
      edge.attempt = std::move(*attempt);
      edge.beside = Subtract(edge.attempt.before.neighbours, {interval});
      if (edge.beside.empty()) break;
      auto known = KnownChanges(tx, edge.attempt, HullOf(edge.beside), *edge.attempt.settled);
      if (!known.ok()) return known.status();
      absl::Status status =
          AddEnded(tx, edge.attempt, HullOf(edge.beside), *edge.attempt.settled, &*known);
      if (!status.ok()) return status;
      edge.known = *std::move(known);
      edges.push_back(std::move(edge));
      break;
    }
  }
  return edges;
}

void Append(verify::NeighbourChanges more, verify::NeighbourChanges* all) {
  std::move(more.findings.begin(), more.findings.end(), std::back_inserter(all->findings));
  std::move(more.explained.begin(), more.explained.end(), std::back_inserter(all->explained));
  std::move(more.changes.begin(), more.changes.end(), std::back_inserter(all->changes));
}

}  // namespace

absl::StatusOr<NextDoor> LookNextDoor(store::Store& store, druid::Cluster& cluster,
                                      const std::string& backfill_id, const Interval& interval) {
  std::vector<Edge> edges;
  absl::Status status = store.Read([&](store::Transaction& tx) -> absl::Status {
    auto read = EdgesOf(tx, backfill_id, interval);
    if (!read.ok()) return read.status();
    edges = *std::move(read);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  NextDoor door;
  if (edges.empty()) {
    door.why_not = "no proof says what was next door";
    return door;
  }
  const std::string datasource = edges.front().attempt.datasource;
  const auto listed = cluster.GetRules(datasource);
  // Rules that can't be read only leave a drop by one of them unexplained.
  const auto rules = druid::Rules::Parse(listed.done() ? listed.value() : "");
  for (Edge& edge : edges) {
    auto used = cluster.ListUsedSegments(datasource, {HullOf(edge.beside)});
    if (!used.done()) {
      door.why_not = used.text();
      return door;
    }
    verify::NeighbourQuestion question;
    question.now = used.druid_time().value_or(store.Now());
    question.intervals = std::move(edge.beside);
    question.before = *std::move(edge.attempt.neighbours_after);
    question.known = std::move(edge.known);
    if (rules.ok()) question.rules = &*rules;
    Append(verify::CompareNeighbours(druid::Timeline::Of(std::move(used.value())), question),
           &door.changes);
  }
  return door;
}

}  // namespace interlock::backfill
