#include "lib/backfill/gathering.h"

#include <algorithm>

#include "lib/time/interval_set.h"

namespace interlock::backfill {

GatherStep NextGather(const Gathered& gathered) {
  if (gathered.changes.empty()) return {GatherStep::Kind::kNothing, {}};
  Instant first = gathered.changes.front().at;
  for (const SourceChange& change : gathered.changes) first = std::min(first, change.at);
  const Instant due = first + gathered.gather;
  if (gathered.now < due) return {GatherStep::Kind::kWait, due};
  const bool patient = gathered.now < due + kLongestWaitForSources;
  if (gathered.run_open || (gathered.sources_at_work && patient)) {
    return {GatherStep::Kind::kWait, gathered.now + kDerivedLook};
  }
  return {GatherStep::Kind::kRun, {}};
}

std::vector<Interval> Affected(const std::vector<Source>& sources,
                               const std::vector<SourceChange>& changes, const Granularity& derived,
                               Instant end) {
  std::vector<Interval> all;
  for (const SourceChange& change : changes) {
    for (const Source& source : sources) {
      if (change.source != source.datasource && change.source != source.corrections_datasource) {
        continue;
      }
      const auto touched = TouchedBy(source, change.interval, derived, end);
      all.insert(all.end(), touched.begin(), touched.end());
    }
  }
  return Condense(std::move(all));
}

SplitBySeals SplitAtSeals(const std::vector<Interval>& affected, const std::vector<Interval>& seals,
                          const Granularity& derived) {
  std::vector<Interval> sealed;
  for (const Interval& part : Intersect(affected, Condense(seals))) {
    sealed.push_back(derived.Widen(part));
  }
  SplitBySeals split;
  split.sealed = Condense(std::move(sealed));
  split.plain = Subtract(affected, split.sealed);
  return split;
}

}  // namespace interlock::backfill
